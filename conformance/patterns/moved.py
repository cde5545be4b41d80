"""Right elements in wrong places: an input itself, axes exchanged, reversed, shifted by one, another shape.

What is in another place must be right there, within what is allowed there. The answer must be one that a
random order of its values, or random places of its wrong elements, would seldom give (`order_surprise`); a
shape that fits as well makes up for three bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.elements import Floats, Mask, measure, same_elements
from conformance.patterns.wrong_output import FEWEST, STRANGE, WrongOutput, order_surprise
from opcert.element_types import ElementType

_STRANGE_WITH_SHAPE = 9.0
_MOST_AXES = 5
Move = Callable[[NDArray[Any]], NDArray[Any]]
Region = tuple[slice, ...]


def find_input(output: WrongOutput) -> str | None:
    """The output is, bit for bit, one of the inputs."""
    for name, each in output.inputs:
        if (
            each.element_type is output.element_type
            and each.shape == output.got.shape
            and _fits(output, each.array, None, (), _STRANGE_WITH_SHAPE)
        ):
            return f"equals the input {name}"
    return None


def find_move(output: WrongOutput) -> str | None:
    """The expected elements in other places."""
    moves = _moves_of_one_shape if output.wrong is not None else _moves_into_another_shape
    strange = STRANGE if output.wrong is not None else _STRANGE_WITH_SHAPE
    for phrase, move, region in moves(output):
        allowed = None if output.allowed is None else move(output.allowed)
        if _fits(output, move(output.expected), allowed, region, strange):
            return phrase
    return None


def _moves_into_another_shape(output: WrongOutput) -> Iterator[tuple[str, Move, Region]]:
    expected, shape = output.expected, output.got.shape
    if expected.size != output.got.size:
        return
    for order in _orders(expected.ndim):
        if tuple(expected.shape[each] for each in order) == shape:
            phrase = f"the expected output with its axes in the order {list(order)}"
            yield phrase, _transpose(order), ()
    yield "the expected elements in another shape", _reshape(shape), ()


def _moves_of_one_shape(output: WrongOutput) -> Iterator[tuple[str, Move, Region]]:
    shape = output.expected.shape
    for order in _orders(len(shape)):
        if tuple(shape[each] for each in order) == shape:
            phrase = f"the expected output with its axes in the order {list(order)}"
            yield phrase, _transpose(order), ()
    for axis, extent in enumerate(shape):
        if extent >= 2:
            phrase = f"the expected output reversed along axis {axis}"
            yield phrase, _flip(axis), ()
        if extent >= 3:
            before, after = (
                (*(slice(None),) * axis, each) for each in (slice(0, extent - 1), slice(1, extent))
            )
            phrase = "the expected output shifted by one towards the {} of axis {}"
            yield phrase.format("start", axis), _take(after), before
            yield phrase.format("end", axis), _take(before), after


def _transpose(order: tuple[int, ...]) -> Move:
    return lambda array: array.transpose(order)


def _reshape(shape: tuple[int, ...]) -> Move:
    return lambda array: array.reshape(shape)


def _flip(axis: int) -> Move:
    return lambda array: np.flip(array, axis)


def _take(region: Region) -> Move:
    return lambda array: array[region]


def _orders(axes: int) -> Iterator[tuple[int, ...]]:
    if axes <= _MOST_AXES:
        yield from (order for order in permutations(range(axes)) if order != tuple(range(axes)))


def _fits(
    output: WrongOutput, predicted: NDArray[Any], allowed: Floats | None, region: Region, strange: float
) -> bool:
    """Whether a prediction of a region of the output holds there, and is no coincidence."""
    if output.wrong_places.size < FEWEST:
        return False
    got = output.got[region]
    inside = _within_region(output, region)
    if inside[0].size < FEWEST:
        return False
    type_ = output.element_type
    sampled = None if allowed is None else allowed[inside]
    if not _holds(type_, predicted[inside], got[inside], sampled):
        return False
    flat = predicted.reshape(-1)
    limits = None if allowed is None else allowed.reshape(-1)
    if not _holds(type_, flat, got.reshape(-1), limits):
        return False
    return order_surprise(type_, flat, limits, output.wrong_mask[region].reshape(-1)) >= strange


def _within_region(output: WrongOutput, region: Region) -> tuple[NDArray[np.intp], ...]:
    """The sampled wrong places that lie in a region, as coordinates in it."""
    coordinates = np.unravel_index(output.sampled_places, output.got.shape)
    inside: Mask = np.ones(output.sampled_places.shape, dtype=np.bool_)
    starts = []
    for axis, each in enumerate(coordinates):
        start, stop, _ = (region[axis] if axis < len(region) else slice(None)).indices(output.got.shape[axis])
        starts.append(start)
        inside &= (each >= start) & (each < stop)
    return tuple(each[inside] - start for each, start in zip(coordinates, starts, strict=True))


def _holds(
    element_type: ElementType, predicted: NDArray[Any], got: NDArray[Any], allowed: Floats | None
) -> bool:
    same = same_elements(element_type, np.ascontiguousarray(predicted), np.ascontiguousarray(got))
    if allowed is None or same.all():
        return bool(same.all())
    other = ~same
    return bool(measure(element_type, got[other], predicted[other], allowed[other])[1].all())
