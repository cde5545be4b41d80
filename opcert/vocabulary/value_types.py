"""Types of values that operators take and give: tensors, sequences, optionals, maps, as ONNX writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError

Extent = int | str | None
"""Of a declared shape: a number, a name for one, or None: open."""

_MOST_DEPTH = 8
_MOST_TEXT = 500
_TENSOR = re.compile(r"tensor\((\w+)\)(?:\[([^\[\]]*)\])?")
_EXTENT = re.compile(r"\d{1,18}|[A-Za-z_]\w*|\?")


@dataclass(frozen=True)
class TensorType:
    """`tensor(float)`, or with a shape `tensor(float)[2,N,?]`; `shape` None: of any rank."""

    element_type: ElementType
    shape: tuple[Extent, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return f"tensor({self.element_type})"
        extents = ",".join("?" if extent is None else str(extent) for extent in self.shape)
        return f"tensor({self.element_type})[{extents}]"


@dataclass(frozen=True)
class SequenceType:
    """`seq(tensor(float))`: any number of values of one type, in order."""

    of: ValueType

    def __str__(self) -> str:
        return f"seq({self.of})"


@dataclass(frozen=True)
class OptionalType:
    """`optional(tensor(float))`: a value of the type, or nothing; raises UserError for one of an optional."""

    of: ValueType

    def __post_init__(self) -> None:
        if isinstance(self.of, OptionalType):
            raise UserError(
                "an optional of an optional is no type of a value",
                got=str(self),
                expected=OPTIONAL_OF_A_VALUE,
            )

    def __str__(self) -> str:
        return f"optional({self.of})"


@dataclass(frozen=True)
class MapType:
    """`map(string,tensor(float))`: values by key, each a tensor of one element without axes.

    Keys are texts or whole numbers: raises UserError for others.
    """

    key: ElementType
    of: TensorType

    def __post_init__(self) -> None:
        if self.key.kind not in ("string", "signed", "unsigned"):
            raise UserError(
                "keys of a map are texts or whole numbers", got=self.key.name, expected=ONE_KEY_TYPE
            )

    def __str__(self) -> str:
        return f"map({self.key},{self.of})"


ValueType = TensorType | SequenceType | OptionalType | MapType

ONE_ELEMENT_TYPE = "one_element_type: all tensors of a sequence have one element type"
ONE_KEY_TYPE = "one_key_type: all keys of a map are texts, or all are whole numbers"
OPTIONAL_OF_A_VALUE = "optional_of_a_value: an optional holds a tensor, a sequence or a map"
"""The rules of values that are no one tensor, each by its name."""


def parse_value_type(text: str) -> ValueType:
    """The type of a text; raises UserError where it is none, or one that no case carries (sparse, opaque)."""
    if len(text) > _MOST_TEXT:
        raise UserError("a type of too many characters", got=str(len(text)), expected=f"at most {_MOST_TEXT}")
    return _parse("".join(text.split()), 0)


def holds_map(kind: ValueType) -> bool:
    """Whether there is a map in a type, however deep."""
    if isinstance(kind, SequenceType | OptionalType):
        return holds_map(kind.of)
    return isinstance(kind, MapType)


def words_of(kind: ValueType) -> Iterator[str]:
    """`sequence`, `optional` and `map`, as a type has them from the outside to the inside."""
    if isinstance(kind, MapType):
        yield "map"
    elif not isinstance(kind, TensorType):
        yield "sequence" if isinstance(kind, SequenceType) else "optional"
        yield from words_of(kind.of)


def element_type_in(kind: ValueType) -> ElementType:
    """The element type of the tensors that a type holds; of a map that of its values."""
    return kind.element_type if isinstance(kind, TensorType) else element_type_in(kind.of)


def _parse(text: str, depth: int) -> ValueType:
    if depth > _MOST_DEPTH:
        raise UserError("a type nested too deeply", expected=f"at most {_MOST_DEPTH}")
    for word, kind in (("seq", SequenceType), ("optional", OptionalType)):
        if text.startswith(f"{word}(") and text.endswith(")"):
            return kind(_parse(text[len(word) + 1 : -1], depth + 1))
    if text.startswith("map(") and text.endswith(")"):
        key, _, value = text[4:-1].partition(",")
        of = _parse(value, depth + 1)
        if not isinstance(of, TensorType) or of.shape not in (None, ()):
            raise UserError("a map of something else than single elements", got=text)
        return MapType(_element_type(key, text), of)
    return _tensor(text)


def _tensor(text: str) -> TensorType:
    match = _TENSOR.fullmatch(text)
    if match is None:
        raise UserError(
            "no type of a value", got=repr(text), expected="tensor(T), seq(...), optional(...) or map(K,V)"
        )
    element_type = _element_type(match[1], text)
    if match[2] is None:
        return TensorType(element_type)
    words = match[2].split(",") if match[2] else []
    if not all(_EXTENT.fullmatch(word) for word in words):
        raise UserError("no shape in a type", got=repr(text), expected="such as [2,N,?]")
    return TensorType(element_type, tuple(_extent(word) for word in words))


def _extent(word: str) -> Extent:
    return None if word == "?" else int(word) if word.isdigit() else word


def _element_type(name: str, text: str) -> ElementType:
    found = ELEMENT_TYPES.get(name)
    if found is None:
        raise UserError("an element type that is not known", got=f"{name!r} in {text!r}")
    return found
