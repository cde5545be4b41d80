"""The type of an input or output in the words that describe it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specs.documents.openvino_pages.field_outcomes import Notes, State
from specs.documents.openvino_pages.type_words import find_precision, read_types
from specs.documents.text.documents import Line
from specs.model.spec import AttributeSpec, Origin, ParameterSpec, TypeConstraint

_MARKED = r"(?:\*{1,2}(?P<star>\w+)\*{1,2}|`(?P<code>\w+)`)"
_TYPES = (
    re.compile(rf"\b(?:[Tt]ype|types) (?:of elements |of values )?(?:is )?{_MARKED}"),
    re.compile(rf"\b(?:of|with|has|have) {_MARKED} (?:element |data )?types?\b"),
    re.compile(rf"\b(?:of|with) (?:the )?(?:same )?type {_MARKED}"),
    re.compile(r"\btype (?P<star>boolean)(?P<code>)\b"),
    re.compile(r"(?:^|\s)\*(?P<star>\w+)\*(?P<code>) type\b"),
)
_CLASS = re.compile(
    r"\b(?P<phrase>any type|(?:any |arbitrary )?(?:supported )?(?:floating[- ]point|integer|numeric|boolean)"
    r"(?: or (?:floating[- ]point|integer|numeric))?(?: type)?)"
    r"(?:(?<=type)\b|(?=[.,]|\s+(?:scalar|tensors?|and|\()|$))"
)
_SAME = re.compile(
    r"\b(?:same|equal|match\w*)\b[^.]{0,60}?"
    r"(?:`(?P<name>\w+)`|(?P<number>\d)(?:st|nd|rd|th)|(?P<order>first|second|third)|input)"
)
_EQUAL = re.compile(
    r"\b(?:same (?:shape and )?(?:data |element )?type\b|same type and shape|elements of the same type|"
    r"same type of elements|(?:shape and )?type(?: and shape)? (?:equal to|match\w*))"
)
_CONCRETE = re.compile(r"\b(?:of|with) (?P<phrase>`\w+`(?:,? (?:or )?`\w+`)+) types?\b")
_BY_ATTRIBUTE = re.compile(
    r"\btype (?:is |that is )?(?:specified|defined|determined|given) (?:by|in) "
    r"(?:the )?(?:attribute )?[*`](?P<name>\w+)[*`]"
)
_OPEN = re.compile(
    r"\b(?:any|arbitrary) (?:supported )?types?\b|\btypes?\b.{0,20}\bsupported\b|\bdifferent types\b"
)
_ORDERS = {"first": 1, "second": 2, "third": 3}
SYMBOL = re.compile(r"^T(?:_?[A-Z0-9]\w*|\d+)?$|^\w+_T$|^\w*_type$")
"""How type variables are called."""


@dataclass
class TypeFinder:
    """Finds types; `constraints` are those that a parameter states by itself, under names made for them."""

    notes: Notes
    variables: frozenset[str]
    attributes: Mapping[str, AttributeSpec]
    constraints: dict[str, TypeConstraint] = field(default_factory=dict)

    def find(self, noun: str, name: str, line: Line, text: str, inputs: Sequence[ParameterSpec]) -> str:
        """The type variable or concrete type that the text gives; `unknown` where it gives none."""
        found = self._marked(name, line, text) or self._same(text, inputs) or self._phrase(name, line, text)
        state: State = "read" if found else "unread"
        if found is None and (
            _OPEN.search(text)
            or "otherwise" in text
            or _EQUAL.search(text)
            or not re.search(r"\btypes?\b", text)
        ):
            state = "open"
        self.notes.field(f"{noun} type", name, line, text, state)
        if found is None:
            self.notes.find(
                "parameter-type-missing",
                "hint",
                line,
                f"the page does not say which type {name} has",
                text if len(text) <= 60 else f"{text[:56].rstrip()} ...",
            )
        return found or "unknown"

    def _marked(self, name: str, line: Line, text: str) -> str | None:
        matches = [match for pattern in _TYPES for match in pattern.finditer(text)]
        words = {match["star"] or match["code"] for match in matches}
        if len(words & self.variables) > 1 and "otherwise" in text:
            return None
        for match in sorted(matches, key=lambda each: each.start()):
            word = match["star"] or match["code"]
            if word in self.variables:
                return word
            precision = find_precision(word)
            if precision is not None:
                return precision
            if word in self.attributes:
                return self._by_attribute(word, line)
            if SYMBOL.match(word):
                self.notes.find(
                    "type-variable-undefined",
                    "warning",
                    line,
                    f"the page says nowhere what {word} stands for",
                    f"type {word} of {name}",
                )
                return word
        said = _BY_ATTRIBUTE.search(text)
        return self._by_attribute(said["name"], line) if said and said["name"] in self.attributes else None

    def _by_attribute(self, name: str, line: Line) -> str:
        """A variable called as the attribute that chooses the type, with the types that it allows."""
        values = self.attributes[name].values
        types = [find_precision(str(each)) for each in values.values] if values else []
        known = tuple(each for each in types if each)
        if known and len(known) == len(types):
            sources = (line.source(), *self.attributes[name].origin.sources)
            self.constraints[name] = TypeConstraint(name, known, Origin("imported", sources))
        return name

    def _phrase(self, name: str, line: Line, text: str) -> str | None:
        concrete = _CONCRETE.search(text)
        phrase = concrete or _CLASS.search(text.lower())
        types = read_types(phrase["phrase"]) if phrase else None
        if types is None or types.open:
            return None
        if len(types.types) == 1:
            return types.types[0]
        variable = f"T_{name}"
        self.constraints[variable] = TypeConstraint(
            variable, types.types, Origin("imported", (line.source(),))
        )
        return variable

    def _same(self, text: str, inputs: Sequence[ParameterSpec]) -> str | None:
        """The type of the input whose type this one is said to have."""
        said = _EQUAL.search(text)
        if said is None or not inputs:
            return None
        match = _SAME.search(text, max(said.start() - 20, 0))
        if match is None and "input" not in text:
            return None
        chosen: ParameterSpec | None = inputs[0]
        if match and match["name"]:
            chosen = next((each for each in inputs if each.name == match["name"]), None)
        elif match and (match["number"] or match["order"]):
            position = int(match["number"]) if match["number"] else _ORDERS[match["order"]]
            chosen = inputs[position - 1] if 0 < position <= len(inputs) else None
        return chosen.type if chosen and chosen.type != "unknown" else None
