"""What an operator version of any ONNX page is made of, before it becomes facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.text.documents import Line, Passage
from specs.documents.worked.examples import ExampleText
from specs.model.spec import Arity

KINDS: dict[str, AttributeKind] = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "string",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
}
"""Our kinds of attributes by ONNX's names for them."""


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


def split_types(text: str) -> list[str]:
    """The types of a comma list, at bracket depth 0 only: `map(int64, float)` is one."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [each.strip() for each in parts if each.strip()]
