"""Scatter, ScatterElements, ScatterND and TensorScatter: updates put into a copy of a tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from operator import itemgetter, mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.answers.orders import greater_of, lesser_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.shared.movement import Accumulation, NegativeZeros, Overflow, Subnormals, moved
from reference.sums.summation import total


@dataclass(frozen=True)
class ScatterReadings:
    """What no document says of elements that are moved, and of numbers that are reduced."""

    subnormals: Subnormals
    negative_zeros: NegativeZeros
    accumulation_type: Accumulation
    integer_overflow: Overflow


def scattered(
    data: Tensor, places: NDArray[np.intp], updates: Tensor, reduction: str, readings: ScatterReadings
) -> Answer:
    """`data` with each update at its flat place, or what the reduction makes of all that belong there."""
    if reduction == "none":
        array = data.array.copy()
        array.reshape(-1)[places.reshape(-1)] = updates.array.reshape(-1)
        return moved(Tensor(data.element_type, array), readings.subnormals, readings.negative_zeros)
    with np.errstate(over="ignore", invalid="ignore"):
        return _reduced(data, places, updates, reduction, readings)


def _reduced(
    data: Tensor, places: NDArray[np.intp], updates: Tensor, reduction: str, readings: ScatterReadings
) -> Answer:
    working = Working(data.element_type, readings.subnormals, readings.accumulation_type)
    every = Tensor(data.element_type, np.concatenate([data.array.reshape(-1), updates.array.reshape(-1)]))
    sources, inside = _by_place(data.array.size, places.reshape(-1))
    if working.is_narrow and sources.shape[1] > 1:
        # A sum that is exact in float32 may need roundings in a narrower type.
        readings.accumulation_type.ask()
    terms = Numbers.of(every, working).gather(sources)
    if reduction == "sub":
        terms, reduction = terms.where(np.arange(sources.shape[1]) == 0, -terms), "add"
    columns = [terms.arranged(itemgetter((slice(None), at))) for at in range(sources.shape[1])]
    if reduction == "add":
        found = total(terms.where(inside, 0), -1)
        found = columns[0].where(np.count_nonzero(inside, axis=-1) == 1, found)
    elif reduction == "mul":
        found = _product(terms.where(inside, 1), inside)
    else:
        # The element itself stands where there is no update.
        choose = greater_of if reduction == "max" else lesser_of
        found = reduce(lambda left, right: choose(left, right, Choice("propagates")), columns)
        answer = answer_of(found.reshape(data.shape), readings.integer_overflow)
        return _with_any_beside_nan(answer, terms, every.array[sources])
    return answer_of(found.reshape(data.shape), readings.integer_overflow)


def _with_any_beside_nan(answer: Answer, terms: Numbers, elements: NDArray[Any]) -> Answer:
    """With each number that NaN is among: no document orders it, nor says in which order they come."""
    further = dict(answer.alternatives or {})
    for row in np.flatnonzero(np.isnan(terms.sign).any(axis=-1)).tolist():
        further[row] = tuple(each.item() for each in elements[row])
    return replace(answer, alternatives=further or None)


def _by_place(count: int, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where each element and its updates are in data followed by updates, and which of these are some."""
    listed: list[list[int]] = [[place] for place in range(count)]
    for at, place in enumerate(places.tolist()):
        listed[place].append(count + at)
    width = max(map(len, listed), default=1)
    sources = np.array([each + each[:1] * (width - len(each)) for each in listed], dtype=np.intp)
    inside = np.array([[at < len(each) for at in range(width)] for each in listed], dtype=np.bool_)
    return sources.reshape(count, width), inside.reshape(count, width)


def _product(terms: Numbers, inside: NDArray[np.bool_]) -> Numbers:
    """The products of rows in any order.

    The worst is to multiply all that are below 1 first, whose product underflows most, and those above 1
    apart from them, whose product is beyond all numbers first.
    """
    below = np.abs(terms.value.floats()) < 1
    parts: list[Numbers] = []
    for chosen in (below, ~below):
        kept = terms.where(chosen & inside, 1)
        columns = [kept.arranged(itemgetter((slice(None), at))) for at in range(kept.shape[1])]
        parts.append(reduce(mul, columns))
    return parts[0] * parts[1]


@reference_operator("ai.onnx::Scatter")
def scatter(data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0) -> Tensor:
    """output[i][indices[i][j]] = updates[i][j] for axis 1, and so on. Source: Scatter, Summary."""
    array = data.array.copy()
    array.reshape(-1)[_flat_places(data.shape, indices, axis)] = updates.array
    return Tensor(data.element_type, array)


@reference_operator("ai.onnx::ScatterElements")
def scatter_elements(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: str = "none",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
) -> Answer:
    """output[i][indices[i][j]] = f(output[i][indices[i][j]], updates[i][j]) for axis 1: in any order.

    Source: ScatterElements, Summary and reduction.
    """
    readings = ScatterReadings(subnormals, negative_zeros, accumulation_type, integer_overflow)
    return scattered(data, _flat_places(data.shape, indices, axis), updates, reduction, readings)


@reference_operator("ai.onnx::ScatterND")
def scatter_nd(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    reduction: str = "none",
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
) -> Answer:
    """output[tuple(indices[idx])] = f(output[tuple(indices[idx])], updates[idx]) for each idx, in any order.

    Source: ScatterND, Summary and reduction. With sub, which TensorFlow alone has, updates are subtracted.
    """
    readings = ScatterReadings(subnormals, negative_zeros, accumulation_type, integer_overflow)
    length = indices.shape[-1]
    strides = _strides(data.shape)
    chosen = indices.array.astype(np.int64) % np.array([max(each, 1) for each in data.shape[:length]])
    starts = (chosen * strides[:length]).sum(axis=-1)  # exact: integers
    places = starts[..., None] + np.arange(prod(data.shape[length:]))
    return scattered(data, places, updates, reduction, readings)


@reference_operator("ai.onnx::TensorScatter")
def tensor_scatter(
    past_cache: Tensor,
    update: Tensor,
    write_indices: tuple[int, ...] | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Tensor:
    """For each batch the update along the axis from its write index on, which goes round in mode circular.

    Source: TensorScatter, Summary.
    """
    array = past_cache.array.copy()
    caches, added = np.moveaxis(array, axis, 1), np.moveaxis(update.array, axis, 1)
    starts = (0,) * array.shape[0] if write_indices is None else write_indices
    for batch, start in enumerate(starts):
        places = start + np.arange(added.shape[1])
        caches[batch, places % caches.shape[1] if mode == "circular" else places] = added[batch]
    return Tensor(past_cache.element_type, array)


def _flat_places(shape: tuple[int, ...], indices: Tensor, axis: int) -> NDArray[np.intp]:
    """Of each update its place among all elements: its own index, but that of `indices` along the axis."""
    places = list(np.indices(indices.shape))
    places[axis] = indices.array.astype(np.int64) % max(shape[axis], 1)
    strides = _strides(shape)
    return np.asarray(sum(each * stride for each, stride in zip(places, strides, strict=True)), dtype=np.intp)


def _strides(shape: tuple[int, ...]) -> NDArray[np.int64]:
    return np.array([prod(shape[axis + 1 :]) for axis in range(len(shape))], dtype=np.int64)
