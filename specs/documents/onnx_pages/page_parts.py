"""What an operator version of any ONNX page is made of, before it becomes facts, and what it lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.text.documents import KeepsFindings, Line, Passage
from specs.documents.worked.examples import ExampleText
from specs.model.spec import Arity, Finding, Source

_WORDS = {
    "Attributes": re.compile(r"\battributes?\b", re.IGNORECASE),
    "Inputs": re.compile(r"(?<!no )\binputs?\b", re.IGNORECASE),
}


def find_missing(parts: PageParts, place: Source, titles: Sequence[str]) -> Iterator[Finding]:
    """What of Attributes and Inputs the text mentions while the page lists none; type variables without use.

    `titles` are the sections that pages of the dialect leave out where they would be empty.
    """
    lists: dict[str, Sequence[ListedItem]] = {"Attributes": parts.attributes, "Inputs": parts.inputs}
    for title, pattern in _WORDS.items():
        if lists[title] or title not in titles:
            continue
        items = (*parts.attributes, *parts.inputs, *parts.outputs, *parts.type_constraints)
        for passage in (parts.summary, *(item.description for item in items)):
            found = pattern.search(passage.text)
            if found:
                message = f"the page lists no {title.lower()}, and its text speaks of them"
                evidence = f"{found[0]} at line {passage.source(found.start()).line}"
                yield Finding("section-missing", "error", place, message, evidence, "noted")
                break
    used = {listed_item.type for listed_item in (*parts.inputs, *parts.outputs)}
    for item in parts.type_constraints:
        if item.name not in used:
            message = f"no input or output is of the type {item.name}, which the page constrains"
            evidence = f"they are of {', '.join(sorted(name for name in used if name))}"
            source = item.line.source()
            yield Finding("type-variable-unused", "warning", source, message, evidence, "noted")


KINDS: dict[str, AttributeKind] = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "string",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
}
"""Our kinds of attributes by ONNX's names for them."""
_TYPE = re.compile(r"[A-Za-z_][\w.]*(?:\([\w.(), ]*\))?")


@dataclass(frozen=True)
class ListedItem:
    """An attribute, a parameter or a type constraint as the page lists it.

    `words` are the qualifiers in parentheses (required, optional, variadic); `default` is the text of a
    printed default.
    """

    name: str
    line: Line
    description: Passage
    type: str | None = None
    types: tuple[str, ...] = ()
    kind: AttributeKind | None = None
    other_type: str | None = None
    words: tuple[str, ...] = ()
    default: str | None = None
    homogeneous: bool | None = None
    differentiable: bool | None = None


@dataclass(frozen=True)
class PageParts:
    """One operator version: its summary, items, arities and examples.

    `prints_types` says whether the dialect prints the types and defaults of attributes.
    """

    summary: Passage
    attributes: Sequence[ListedItem]
    inputs: Sequence[ListedItem]
    outputs: Sequence[ListedItem]
    type_constraints: Sequence[ListedItem]
    input_arity: Arity
    output_arity: Arity
    examples: Sequence[ExampleText] = ()
    prints_types: bool = True
    deprecated: bool = False


class PartsReader(KeepsFindings):
    """What the readers of both dialects share: what they cannot read, and what must hold of every item."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def _find(self, code: str, place: Line | Source, message: str, evidence: str) -> None:
        self.find(code, "error", place, message, evidence, "rejected")

    def _unread(self, title: str, line: Line, evidence: str) -> None:
        self._find("item-unread", line, f"a line of the section {title} cannot be read", evidence)

    def _check_parameter(self, title: str, item: ListedItem, words: Collection[str]) -> None:
        """A parameter has a type, and no qualifiers but these."""
        kind = item.type or ""
        if not _TYPE.fullmatch(kind) or kind.count("(") != kind.count(")"):
            self._unread(title, item.line, f"the type of {item.name} is none")
        if not set(item.words) <= set(words):
            self._unread(title, item.line, f"{item.name} has a qualifier that is none")

    def _check_constraint(self, item: ListedItem, listed: bool) -> None:
        """A type variable has a list of types."""
        if not listed or not item.types or not all(map(_TYPE.fullmatch, item.types)):
            evidence = f"the types of {item.name} are no list of types"
            self._unread("Type Constraints", item.line, evidence)

    def _arity_of(
        self,
        kind: str,
        title: str,
        place: Line | Source | None,
        bounds: Arity | None,
        items: Sequence[ListedItem],
        least: int = 0,
    ) -> Arity:
        """The bounds of a section that are stated, checked against its items; without any, their number.

        `least` is the least that the bounds may state; of a section that is not there nothing is found.
        """
        count = len(items)
        optional = [not {"optional", "variadic"}.isdisjoint(item.words) for item in items]
        if bounds is None:
            # Only what stands last can be left out of a node's list; a hole in it counts.
            if place is not None and items and optional[-1]:
                evidence = "there are optional or variadic items"
                self._find("arity-vs-items", place, f"the {kind} {title} gives no bounds", evidence)
            return Arity(count, count)
        endless = any("variadic" in item.words for item in items)
        fits = bounds.least <= count and (bounds.most is None) == endless and bounds.most in (None, count)
        if place is not None and (not fits or bounds.least < least):
            evidence = f"{bounds.least} to {bounds.most or 'any number'}, and {count} items"
            self._find("arity-vs-items", place, f"the bounds of {title} do not fit its items", evidence)
        return bounds


def split_types(text: str) -> list[str]:
    """The types of a comma list, at bracket depth 0 only: `map(int64, float)` is one."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
