"""The shapes of what a graph gives, where it is an attribute."""

from __future__ import annotations

from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.value_types import MapType, TensorType, ValueType


def body_shapes(body: Graph) -> list[list[int | str | None]]:
    """The extents of each output, or of the tensors in it; an open one is None.

    ValueError for what is no graph, and for outputs that say no shape.
    """
    if not isinstance(body, Graph) or body.outputs is None:
        raise ValueError("no graph that was read")
    return [_shape(each) for each in body.outputs]


def _shape(kind: ValueType | None) -> list[int | str | None]:
    if kind is None or isinstance(kind, MapType):
        raise ValueError("an output without a shape")
    if not isinstance(kind, TensorType):
        return _shape(kind.of)
    if kind.shape is None:
        raise ValueError("an output without a shape")
    return list(kind.shape)
