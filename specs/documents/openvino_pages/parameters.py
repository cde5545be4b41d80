"""Inputs and outputs of a page: number, name, type, rank, shape, and whether they may be omitted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from specs.documents.openvino_pages.items import Bullet, Notes, State
from specs.documents.openvino_pages.tokens import bare, plain
from specs.documents.openvino_pages.type_words import find_precision, read_types
from specs.documents.text.documents import Line
from specs.model.spec import AttributeSpec, Option, Origin, ParameterSpec, TypeConstraint

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

    def find(
        self, noun: str, name: str, line: Line, text: str, inputs: Sequence[ParameterSpec], own: str
    ) -> str:
        """The type variable or concrete type that its own field or the text gives; `unknown` for none."""
        listed = own if own in self.variables else find_precision(own)
        found = (
            listed
            or self._marked(name, line, text)
            or self._same(text, inputs)
            or self._phrase(name, line, text)
        )
        state: State = "read" if found else "unread"
        if found is None and (
            _OPEN.search(text)
            or "otherwise" in text
            or _EQUAL.search(text)
            or not re.search(r"\btypes?\b", text)
        ):
            state = "open"
        self.notes.field(f"{noun} type", name, line, text, state)
        if found is None and not _OPEN.search(text) and not _EQUAL.search(text):
            message = f"the page does not say which type {name} has"
            evidence = text if len(text) <= 60 else f"{text[:56].rstrip()} ..."
            self.notes.find("parameter-type-missing", "hint", line, message, evidence)
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
                message = f"the page says nowhere what {word} stands for"
                self.notes.find("type-variable-undefined", "warning", line, message, f"type {word} of {name}")
                return word
        said = _BY_ATTRIBUTE.search(text)
        return self._by_attribute(said["name"], line) if said and said["name"] in self.attributes else None

    def _by_attribute(self, name: str, line: Line) -> str:
        """A variable called as the attribute that chooses the type, with the types that it allows."""
        values = self.attributes[name].values
        types = [find_precision(str(value)) for value in values.values] if values else []
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
            chosen = next((parameter for parameter in inputs if parameter.name == match["name"]), None)
        elif match and (match["number"] or match["order"]):
            position = int(match["number"]) if match["number"] else _ORDERS[match["order"]]
            chosen = inputs[position - 1] if 0 < position <= len(inputs) else None
        return chosen.type if chosen and chosen.type != "unknown" else None


_NUMBERED = re.compile(
    r"^\*\*(?P<first>\d+)(?P<more>(?:\*\*)?(?:\.\.|,? ?\.\.\.,? ?| ?- ?)(?:\*\*)?\w+)?\*\*"
    r"[ \t]*:?[ \t]*(?P<text>.*)$"
)
_SEVERAL = re.compile(r"^\*\*Multiple (?P<what>[\w ]+)\*\*[ \t]*:?[ \t]*(?P<text>.*)$", re.IGNORECASE)
_TITLED = re.compile(r"^\*\*(?P<name>[A-Za-z]\w*(?: \w+)?)\*\*[ \t]*:[ \t]*(?P<text>.*)$")
_NOTE = re.compile(r"^\*\*(?:note|important)", re.IGNORECASE)
_NAME = re.compile(
    r"^(?:an? |the )?(?:`(?P<code>[A-Za-z_]\w*)`|"
    r"\"(?P<quoted>[A-Za-z_]\w*)\"(?= -)|\*(?P<star>[A-Za-z_]\w*)\*(?= --? ))"
)
_OPTIONAL = re.compile(
    r"\*{1,2}Optional\.?\*{1,2}|(?:^|[.)] )Optional\.?$"
    r"|(?:^|[.)] )Optional(?:ly)?,? (?:with )?(?:the )?default\b|\binput is optional\b"
    r"|\bis (?:needed|required) for [^.]{1,60} only\b",
    re.IGNORECASE,
)
_REQUIRED = re.compile(r"\*{1,2}Required\.?\*{1,2}|(?:^|[.)`] )Required\.?$", re.IGNORECASE)
_RANK = re.compile(r"\b(?P<rank>\d+|N)(?:-?D|[- ]dimensional)\b|\brank (?P<number>\d+)\b(?!,| or)")
_DEFAULT = re.compile(
    r"\b[Dd]efault(?: value)?(?: is| equal to|:)? `?(?P<value>[-+]?\d+(?:\.\d+)?)`?"
    r"(?=$|\.(?:\s|$)|[,;)]|\s(?![-+*/]))"
)
_SHAPE = re.compile(r"\bshape `\[(?P<shape>[^`]*)\]`(?! or|, `)")


@dataclass
class ParameterGroup:
    """The inputs or the outputs as they are read, and the lines that describe each."""

    noun: str
    parameters: list[ParameterSpec] = field(default_factory=list)
    descriptions: dict[str, list[Line]] = field(default_factory=dict)


class ParameterReader:
    """Reads the bullets of a section into parameters."""

    def __init__(self, notes: Notes, types: TypeFinder) -> None:
        self._notes = notes
        self._types = types
        self.inputs = ParameterGroup("input")
        self.outputs = ParameterGroup("output")

    def read(self, group: ParameterGroup, bullets: Sequence[Bullet]) -> None:
        """Read one section. A bullet that is neither a parameter nor a note is a finding."""
        variants = _begun_anew(bullets)
        repeated = [bullet for run in variants for bullet in run]
        for bullet in bullets:
            text = bullet.lines[0].text
            if bullet in repeated:
                continue
            head = None if _NOTE.match(text) else _head(text)
            numbered = [child for child in bullet.children if _NUMBERED.match(child.lines[0].text)]
            if head is not None:
                self._parameter(group, bullet, head)
            elif numbered:
                variants.append(numbered)
            elif not _NOTE.match(text):
                message = f"an item among the {group.noun}s has no number"
                self._notes.find("item-unread", "warning", bullet.lines[0], message, text[:60])
        if variants:
            self._variants(group, variants)
        if repeated:
            self._describe_variants(group, repeated)

    def _variants(self, group: ParameterGroup, variants: list[list[Bullet]]) -> None:
        """Alternative lists of parameters: the longest, whose rest may be omitted."""
        longest = max(variants, key=len)
        for bullet in longest:
            head = _head(bullet.lines[0].text)
            if head is not None:
                self._parameter(group, bullet, head)
        least = min(map(len, variants))
        message = f"the {group.noun}s are listed in alternatives"
        evidence = " or ".join(str(len(variant)) for variant in variants)
        self._notes.find("alternative-signatures", "hint", longest[0].lines[0], message, evidence)
        group.parameters[least:] = [
            replace(parameter, option="optional") for parameter in group.parameters[least:]
        ]

    @staticmethod
    def _describe_variants(group: ParameterGroup, bullets: Sequence[Bullet]) -> None:
        """What every list says of a name describes it; no list says the shape for the others."""
        for position, parameter in enumerate(group.parameters):
            same = [bullet for bullet in bullets if _coded_name(bullet) == parameter.name]
            if len(same) > 1:
                group.descriptions[parameter.name] = [line for bullet in same for line in bullet.lines]
                group.parameters[position] = replace(parameter, rank=None, shape=None)

    def _parameter(self, group: ParameterGroup, bullet: Bullet, head: re.Match[str]) -> None:
        line = bullet.lines[0]
        named = head.groupdict()
        lines = [line.after(head.start("text")), *bullet.lines[1:]]
        text = plain(" ".join(each.text for each in lines))
        below = plain(" ".join(each.text for child in bullet.children for each in child.lines))
        number = len(group.parameters) + 1
        if named.get("first") is not None and int(named["first"]) != number:
            message = f"the {group.noun}s are not numbered one after the other"
            evidence = f"{named['first']} where {number} is due"
            self._notes.find("sequence-break", "error", line, message, evidence)
            number = int(named["first"])
        several = "what" in named or bool(named.get("more"))
        name = self._name(group, text, number, named, several)
        if name in group.descriptions:
            self._notes.find(
                "duplicate-name", "warning", line, f"a second {group.noun} is called {name}", name
            )
            name = f"{name}_{number}"
            if name in group.descriptions:
                return
        group.descriptions[name] = lines
        option = self._option(group, name, line, text, below, several)
        rank = _rank(text)
        typed = bullet.part("type")
        own = bare(typed.text) if typed else ""
        group.parameters.append(
            ParameterSpec(
                name=name,
                option=option,
                type=self._types.find(group.noun, name, line, text, self.inputs.parameters, own),
                origin=Origin("imported", (line.source(),)),
                rank=rank,
                shape=_shape(text),
                default=_default(text) if option == "optional" else None,
            )
        )

    def _name(
        self, group: ParameterGroup, text: str, number: int, named: dict[str, str | None], several: bool
    ) -> str:
        found = _NAME.match(text)
        written = (found["code"] or found["quoted"] or found["star"]) if found else None
        if written and not SYMBOL.match(written):
            return written
        if named.get("name"):
            return re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "_", named["name"] or "").lower()
        if several:
            return f"{group.noun}s"
        return group.noun if number == 1 else f"{group.noun}_{number}"

    def _option(
        self, group: ParameterGroup, name: str, line: Line, text: str, below: str, several: bool
    ) -> Option:
        if group.noun == "output":
            return "variadic" if several else "optional" if _OPTIONAL.search(text) else "single"
        optional, required = (
            _OPTIONAL.search(f"{text} {below}".strip()),
            _REQUIRED.search(f"{text} {below}".strip()),
        )
        stated = bool(optional) != bool(required)
        self._notes.field("input optionality", name, line, text, "read" if stated or several else "unread")
        if not stated and not several:
            message = f"the page does not say whether {name} may be omitted"
            self._notes.find("optionality-unstated", "hint", line, message, text[:60])
        if several:
            return "variadic"
        return "optional" if optional else "single"


def _begun_anew(bullets: Sequence[Bullet]) -> list[list[Bullet]]:
    """The lists, where a second one begins with the number 1 and the name that the first begins with."""
    runs: list[list[Bullet]] = []
    for bullet in bullets:
        head = _NUMBERED.match(bullet.lines[0].text)
        if head is None:
            continue
        if not runs or (head["first"] == "1" and _coded_name(bullet) == _coded_name(runs[0][0]) is not None):
            runs.append([bullet])
        else:
            runs[-1].append(bullet)
    return runs if len(runs) > 1 else []


def _coded_name(bullet: Bullet) -> str | None:
    """The name in marks of code that a numbered item begins with."""
    head = _NUMBERED.match(bullet.lines[0].text)
    found = _NAME.match(plain(head["text"])) if head else None
    return found["code"] if found else None


def _head(text: str) -> re.Match[str] | None:
    return _NUMBERED.match(text) or _SEVERAL.match(text) or _TITLED.match(text)


def _default(text: str) -> int | float | None:
    """The number that an omitted input stands for, where the text gives one alone."""
    found = {match["value"] for match in _DEFAULT.finditer(text)}
    if len(found) != 1:
        return None
    number = found.pop()
    return float(number) if "." in number else int(number)


def _rank(text: str) -> str | None:
    """The rank that the first sentence states, where it states one alone."""
    sentence = re.split(r"\.(?:\s|$)", text)[0]
    ranks = {match["rank"] or match["number"] for match in _RANK.finditer(sentence)}
    if re.search(
        r"\bscalar\b|\bor more\b|[<>]=?|\bat least\b|\bgreater\b|, or \d|\brank [\d, ]+ or\b", sentence
    ):
        return None
    return ranks.pop() if len(ranks) == 1 else None


def _shape(text: str) -> tuple[str, ...] | None:
    """The extents of the one shape that the text gives."""
    sentence = re.split(r"\.(?:\s|$)(?!\.)", text)[0]
    shapes = _SHAPE.findall(text if len(_SHAPE.findall(sentence)) == 0 else sentence)
    if len(shapes) != 1 or "..." in shapes[0]:
        return None
    extents = tuple(word.strip() for word in re.split(r",(?![^(\[]*[)\]])", shapes[0]))
    return extents if all(extents) else None
