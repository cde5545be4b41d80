"""OneHot, Compress and NonZero: what indices and conditions select."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.numbers.numbers import bits_of
from reference.registry import reference_operator
from reference.shared.movement import Subnormals


@reference_operator("ai.onnx::OneHot")
def one_hot(indices: Tensor, depth: int, values: Tensor, *, axis: int = -1) -> Tensor:
    """values[1] where a class is the index, counted from the end where negative, else values[0].

    Indices and depth become int64 first. Source: OneHot, Summary, indices and depth.
    """
    whole = np.asarray(np.frompyfunc(int, 1, 1)(indices.array), dtype=object)
    place = axis % (len(indices.shape) + 1)
    classes = np.arange(depth, dtype=object).reshape(-1, *(1,) * (len(indices.shape) - place))
    wanted = np.expand_dims(whole, place)
    hot = np.asarray((wanted == classes) | (wanted + depth == classes), dtype=np.bool_)
    return Tensor(values.element_type, values.array[hot.astype(np.intp)])


@reference_operator("ai.onnx::Compress")
def compress(input: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """The slices, or without an axis the elements, for which the condition holds; none beyond its end.

    Source: Compress, Summary, axis and condition.
    """
    array = input.array.reshape(-1) if axis is None else input.array
    chosen = np.flatnonzero(condition.array)
    return Tensor(input.element_type, np.take(array, chosen, 0 if axis is None else axis))


@reference_operator("ai.onnx::NonZero")
def non_zero(X: Tensor, *, subnormals: Subnormals) -> Answer:
    """An index along each axis for each element that is not zero, in row-major order.

    Source: NonZero, Summary.
    """
    found = _nonzero(X, flushed=False)
    without = _nonzero(X, flushed=True)
    if (found != without).any() and subnormals.ask() == "flushed":
        found = without
    places = np.flatnonzero(found)
    indices = [places // stride % extent for extent, stride in _axes(X.shape)]
    return Answer(tensor(np.array(indices, dtype=np.int64).reshape(len(X.shape), len(places)), "int64"))


def _nonzero(given: Tensor, *, flushed: bool) -> NDArray[np.bool_]:
    """By element whether it is not zero; subnormal numbers are, where they are flushed."""
    kind = given.element_type.component
    flat = np.ascontiguousarray(given.array).reshape(-1)
    if kind.layout is None:
        return np.asarray(flat != 0, dtype=np.bool_)
    magnitude = bits_of(flat.view(kind.storage)) & np.uint64((1 << (kind.bits - 1)) - 1)
    least = np.uint64(1 << (kind.layout.precision - 1)) if flushed else np.uint64(1)
    parts = 2 if given.element_type.kind == "complex" else 1
    return np.asarray((magnitude >= least).reshape(flat.size, parts).any(axis=1))


def _axes(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Of each axis its length, and how many elements lie between two neighbours along it."""
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return list(zip(shape, strides, strict=True))
