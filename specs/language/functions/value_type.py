"""The type of a value as facts list it."""

from __future__ import annotations

from typing import Any

from opcert.vocabulary.value_types import MapType, OptionalType, SequenceType, TensorType, ValueType


def value_type(value: Any) -> str:
    """`float` of a tensor, `optional(tensor(float))` of an optional; of an attribute that is a type, itself.

    Shapes are left out. ValueError for what has no type: numbers, and what is left out.
    """
    if isinstance(value, TensorType | SequenceType | OptionalType | MapType):
        return type_text(value)
    found = getattr(value, "type", None) or getattr(value, "element_type", None)
    if not isinstance(found, str):
        raise ValueError("no value with a type")
    return found


def type_text(kind: ValueType) -> str:
    """The same of a type."""
    plain = _without_shape(kind)
    return plain.element_type.name if isinstance(plain, TensorType) else str(plain)


def _without_shape(kind: ValueType) -> ValueType:
    if isinstance(kind, TensorType):
        return TensorType(kind.element_type)
    if isinstance(kind, MapType):
        return MapType(kind.key, TensorType(kind.of.element_type))
    return type(kind)(_without_shape(kind.of))
