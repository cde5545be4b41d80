"""ArgMax, ArgMin, Hardmax and TopK: which elements are the greatest or the least along an axis.

No document orders NaN: beside one, any element of its lane is as good.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.numbers.numbers import encode
from reference.numbers.sort_keys import sort_keys
from reference.registry import reference_operator
from reference.shared.movement import NegativeZeros, Subnormals, moved


@reference_operator("ai.onnx::ArgMax")
def arg_max(
    data: Tensor,
    *,
    axis: int = 0,
    keepdims: int = 1,
    select_last_index: int = 0,
    version: int,
    subnormals: Subnormals,
) -> Answer:
    """Where the greatest element is: the first of them, or the last; before version 12 any of them.

    Source: ArgMax, Summary, axis and keepdims.
    """
    best, nan = _best(data, axis, subnormals, greatest=True)
    return _position(best, nan | (version < 12), axis, keepdims, last=bool(select_last_index))


@reference_operator("ai.onnx::ArgMin")
def arg_min(
    data: Tensor,
    *,
    axis: int = 0,
    keepdims: int = 1,
    select_last_index: int = 0,
    version: int,
    subnormals: Subnormals,
) -> Answer:
    """Where the least element is: the first of them, or the last; before version 12 any of them.

    Source: ArgMin, Summary, axis and keepdims.
    """
    best, nan = _best(data, axis, subnormals, greatest=False)
    return _position(best, nan | (version < 12), axis, keepdims, last=bool(select_last_index))


@reference_operator("ai.onnx::Hardmax", segments=(13,))
def hardmax(input: Tensor, *, axis: int | None = None, version: int, subnormals: Subnormals) -> Answer:
    """1 for the first greatest element along the axis, and 0 for all others.

    Before version 13 the input is a matrix, split at the axis, 1 by default.
    Source: Hardmax, Summary and axis.
    """
    kind, rows = input.element_type, input
    if version < 13:
        at = (1 if axis is None else axis) % len(input.shape)
        shape = prod(input.shape[:at]), prod(input.shape[at:])
        rows, axis = Tensor(kind, input.array.reshape(shape)), -1
    if not rows.array.size:
        return Answer(input)
    axis = -1 if axis is None else axis
    doubtful, beside_nan = _best(rows, axis, subnormals, greatest=True)
    one, zero = encode(kind, [1])[0], encode(kind, [0])[0]
    lanes = np.moveaxis(doubtful, axis, -1)
    counted = np.cumsum(lanes == _CERTAIN, axis=-1)  # exact: integers
    first = (counted == 1) & (lanes == _CERTAIN)
    # Of NaN alone each is the greatest, or none.
    open_ones = (lanes == _POSSIBLE).any(axis=-1, keepdims=True) | np.moveaxis(beside_nan, axis, -1)
    others = np.moveaxis(open_ones & (lanes != _OUT), -1, axis)
    hot = np.moveaxis(first, -1, axis).reshape(input.shape)
    output = np.where(hot, one, zero).astype(kind.storage)
    beside = {int(at): ((zero if hot.flat[at] else one).item(),) for at in np.flatnonzero(others)}
    return Answer(Tensor(kind, output), None, beside or None)


@reference_operator("ai.onnx::TopK")
def top_k(
    X: Tensor,
    K: int | None = None,
    *,
    axis: int = -1,
    k: int | None = None,
    largest: int = 1,
    sorted: int = 1,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, Answer]:
    """The K greatest or least elements along the axis and their indices, of equals the lower index first.

    Where `sorted` is 0 each of them may be at each place. Source: TopK, Summary, largest and sorted.
    """
    count = k if K is None else K
    assert count is not None
    kept, flushed = (sort_keys(X, flushed=each) for each in (False, True))
    chosen, other = (
        np.take(_order(each.keys, axis, bool(largest)), np.arange(count), axis) for each in (kept, flushed)
    )
    if (chosen != other).any() and subnormals.ask() == "kept":
        other = chosen
    nan = np.asarray(np.moveaxis(kept.nan, axis, -1).any(axis=-1))
    rows = np.moveaxis(X.array, axis, -1)
    first, second = (np.moveaxis(each, axis, -1) for each in (chosen, other))
    at = np.moveaxis(np.arange(chosen.size).reshape(chosen.shape), axis, -1)
    elements: dict[int, tuple[Any, ...]] = {}
    places: dict[int, tuple[Any, ...]] = {}
    for lane in np.ndindex(nan.shape):
        every = range(X.shape[axis]) if nan[lane] else dict.fromkeys([*first[lane], *second[lane]])
        for place, flat in enumerate(at[lane].tolist()):
            one = first[lane][place], second[lane][place]
            also = every if nan[lane] or not sorted else dict.fromkeys(one)
            if len(also) > 1:
                places[flat] = tuple(int(each) for each in also)
                elements[flat] = tuple(rows[lane][each].item() for each in also)
    values = Tensor(X.element_type, np.take_along_axis(X.array, chosen, axis))
    indices = Tensor(ELEMENT_TYPES["int64"], chosen.astype(np.int64))
    return moved(values, subnormals, negative_zeros, elements or None), Answer(indices, None, places or None)


_OUT, _POSSIBLE, _CERTAIN = 0, 1, 2
"""Whether an element is the greatest of its lane: it is not, it may be, it is."""


def _best(
    data: Tensor, axis: int, subnormals: Subnormals, *, greatest: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each element whether it is the greatest (or least) along the axis; beside NaN any may be.

    Then whether there is NaN along the axis, which is kept with a length of 1.
    """
    kept, flushed = (sort_keys(data, flushed=each) for each in (False, True))
    found, other = (
        each.keys == (each.keys.max if greatest else each.keys.min)(axis=axis, keepdims=True)
        for each in (kept, flushed)
    )
    if (found != other).any() and subnormals.ask() == "kept":
        other = found
    nan = np.asarray(kept.nan.any(axis=axis, keepdims=True))
    lanes = np.broadcast_to(nan, data.shape)
    best = np.where(found, _CERTAIN, np.where(other, _POSSIBLE, _OUT))
    return np.where(lanes & (best == _OUT), _POSSIBLE, best).astype(np.int64), nan


def _position(
    best: NDArray[np.int64], any_of_them: NDArray[np.bool_], axis: int, keepdims: int, *, last: bool
) -> Answer:
    """The first or last place along the axis that is certain, and the others that are as good.

    `any_of_them` says of each lane whether the certain places are as good as each other.
    """
    lanes = np.moveaxis(best, axis, -1)
    open_lanes = np.moveaxis(any_of_them, axis, -1).reshape(-1).tolist()
    shape = lanes.shape[:-1]
    rows = lanes.reshape(-1, lanes.shape[-1]) if shape else lanes.reshape(1, -1)
    indices, further = np.zeros(len(rows), dtype=np.int64), dict[int, tuple[Any, ...]]()
    for at, row in enumerate(rows):
        certain = np.flatnonzero(row == _CERTAIN).tolist()
        indices[at] = certain[-1 if last else 0]
        also = np.flatnonzero(row == _POSSIBLE).tolist() + (certain if open_lanes[at] else [])
        if [each for each in also if each != indices[at]]:
            further[at] = tuple(also)
    # A lane has one index, so that an axis of length 1 changes no place in row-major order.
    output = indices.reshape(shape)
    if keepdims:
        output = np.expand_dims(output, axis)
    return Answer(Tensor(ELEMENT_TYPES["int64"], output), None, further or None)


def _order(keys: NDArray[np.object_], axis: int, largest: bool) -> NDArray[np.int64]:
    """The places along the axis from the greatest (or least) on, the lower of equals first."""
    lanes = np.moveaxis(keys, axis, -1)
    order = np.empty(lanes.shape, dtype=np.int64)
    for lane in np.ndindex(lanes.shape[:-1]):
        row = lanes[lane].tolist()
        order[lane] = sorted(range(len(row)), key=lambda at: (-row[at] if largest else row[at], at))
    return np.moveaxis(order, -1, axis)
