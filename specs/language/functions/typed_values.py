"""Functions on single values: their types, what texts write, what graphs take and give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import find_element_type
from opcert.vocabulary.value_types import MapType, OptionalType, SequenceType, TensorType, ValueType


def body_inputs(body: Graph) -> list[str]:
    """The types of what a graph takes, empty where it says none; ValueError for what is no graph."""
    return _types(body.inputs if isinstance(body, Graph) else None)


def body_outputs(body: Graph) -> list[str]:
    """The types of what a graph gives, empty where it says none; ValueError for what is no graph."""
    return _types(body.outputs if isinstance(body, Graph) else None)


def _types(values: Sequence[ValueType | None] | None) -> list[str]:
    if values is None:
        raise ValueError("no graph that was read")
    return ["" if kind is None else type_text(kind) for kind in values]


def body_shapes(body: Graph) -> list[list[int | str | None]]:
    """The extents of each output, or of the tensors in it; an open one is None.

    ValueError for what is no graph, and for outputs that say no shape.
    """
    if not isinstance(body, Graph) or body.outputs is None:
        raise ValueError("no graph that was read")
    return [_shape(output) for output in body.outputs]


def body_takes(body: Graph, shapes: Sequence[Sequence[int]]) -> bool:
    """Whether tensors of these shapes are such as a graph says that it takes, as far as it says it.

    ValueError for what is no graph.
    """
    if not isinstance(body, Graph) or body.inputs is None:
        raise ValueError("no graph that was read")
    return len(shapes) == len(body.inputs) and all(
        len(kind.shape) == len(shape)
        and all(
            not isinstance(stated, int) or stated == extent
            for stated, extent in zip(kind.shape, shape, strict=True)
        )
        for kind, shape in zip(body.inputs, shapes, strict=True)
        if isinstance(kind, TensorType) and kind.shape is not None
    )


def _shape(kind: ValueType | None) -> list[int | str | None]:
    if kind is None or isinstance(kind, MapType):
        raise ValueError("an output without a shape")
    if not isinstance(kind, TensorType):
        return _shape(kind.of)
    if kind.shape is None:
        raise ValueError("an output without a shape")
    return list(kind.shape)


def has_element(value: Any) -> bool:
    """False for what is left out, and for an optional that holds nothing."""
    return value is not None and not getattr(value, "holds_nothing", False)


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?|[+-]?inf|nan", re.IGNORECASE | re.ASCII)


def is_number(text: object) -> bool:
    """Whether it is a number in plain or scientific form, or one of INF, +INF, -INF and NaN in any case."""
    plain = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return _NUMBER.fullmatch(plain) is not None


def type_code(element_type: str) -> int:
    """The number by the type's name."""
    return find_element_type(element_type).code


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
