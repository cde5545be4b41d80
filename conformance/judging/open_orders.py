"""Outputs whose order is left open, put into that of the expectation before they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.responses import ReturnedOther
from conformance.suite.cases import Expectation, Unordered
from opcert.vocabulary.tensors import Tensor

Outputs = tuple[Tensor | ReturnedOther, ...]


def put_in_order(expectation: Expectation, outputs: Outputs) -> Outputs:
    """The outputs, each group of an open order in the order that finds most of the expected elements.

    Elements are found bit for bit, jointly in all outputs of a group; what is found nowhere takes the places
    that are left. An output that does not fit its expectation, or is in order, stays the same object.
    """
    found = list(outputs)
    places = {each.name: place for place, each in enumerate(expectation.outputs)}
    for group in expectation.unordered:
        at = [places[name] for name in group.outputs]
        wanted = [expectation.outputs[place].expected for place in at]
        got = [found[place] for place in at]
        tensors = [each for each in got if isinstance(each, Tensor)]
        if len(tensors) < len(got) or any(
            one.shape != other.shape or one.element_type is not other.element_type
            for one, other in zip(tensors, wanted, strict=True)
        ):
            continue
        for place, moved in zip(at, _ordered(group, tensors, wanted), strict=True):
            found[place] = moved
    return tuple(found)


def _ordered(group: Unordered, got: Sequence[Tensor], wanted: Sequence[Tensor]) -> list[Tensor]:
    mine = [_lanes(group, each.array) for each in got]
    theirs = [_lanes(group, each.array) for each in wanted]
    orders = [
        _order([each[lane] for each in mine], [each[lane] for each in theirs]) for lane in range(len(mine[0]))
    ]
    if all(order == sorted(order) for order in orders):
        return list(got)
    moved = []
    for tensor, lanes in zip(got, mine, strict=True):
        array = np.stack([lane[order] for lane, order in zip(lanes, orders, strict=True)])
        moved.append(Tensor(tensor.element_type, _without_lanes(group, array, tensor.shape)))
    return moved


def _order(mine: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]]) -> list[int]:
    """For each expected element the place of the one that was got."""
    waiting: dict[bytes, list[int]] = {}
    for place in reversed(range(len(mine[0]))):
        waiting.setdefault(_key(mine, place), []).append(place)
    order: list[int | None] = []
    for place in range(len(theirs[0])):
        known = waiting.get(_key(theirs, place))
        order.append(known.pop() if known else None)
    left = iter(sorted(set(range(len(mine[0]))) - {each for each in order if each is not None}))
    return [next(left) if each is None else each for each in order]


def _key(arrays: Sequence[NDArray[Any]], place: int) -> bytes:
    if any(each.dtype == np.object_ for each in arrays):
        return repr([each[place].tolist() for each in arrays]).encode()
    return b"".join(each[place].tobytes() for each in arrays)


def _lanes(group: Unordered, array: NDArray[Any]) -> NDArray[Any]:
    """Lanes, elements of each, and what an element holds: a number, or a whole slice."""
    length = array.shape[group.axis]
    if not array.size:
        return np.zeros((0, length, 1) if group.lanes else (1, length, 0), array.dtype)
    if group.lanes:
        return np.moveaxis(array, group.axis, -1).reshape(-1, length, 1)
    return np.moveaxis(array, group.axis, 0).reshape(1, length, -1)


def _without_lanes(group: Unordered, lanes: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    rest = tuple(extent for axis, extent in enumerate(shape) if axis != group.axis)
    if group.lanes:
        return np.ascontiguousarray(np.moveaxis(lanes.reshape(*rest, shape[group.axis]), -1, group.axis))
    return np.ascontiguousarray(np.moveaxis(lanes.reshape(shape[group.axis], *rest), 0, group.axis))
