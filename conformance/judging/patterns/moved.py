"""Right elements in wrong places: an input itself, axes exchanged, reversed, shifted by one, another shape.

What is in another place must be right there, within what is allowed there. The answer must be one that a
random order of its values, or random places of its wrong elements, would seldom give (`is_strange_order`); a
shape that fits as well makes up for three bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.coincidences import STRANGE, is_strange_order
from conformance.judging.patterns.elements import Floats, Mask, measure, same_bits, same_elements
from conformance.judging.patterns.wrong_output import FEWEST, WrongOutput, spread
from opcert.vocabulary.element_types import ElementType

_STRANGE_WITH_SHAPE = 9
_MOST_AXES = 5
_SMALL = 1024
_SIFTED = 16
Move = Callable[[NDArray[Any]], NDArray[Any]]
Region = tuple[slice, ...]


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A way in which elements moved: `move` makes of the expectation what `region` of the output holds."""

    phrase: str
    move: Move
    region: Region = ()


def find_input(output: WrongOutput) -> str | None:
    """The output is, bit for bit, one of the inputs."""
    for name, each in output.inputs:
        if each.element_type is output.element_type and each.array.shape == output.got.shape:
            places = output.sampled_places
            got, given = (array.reshape(-1)[places] for array in (output.got, each.array))
            if same_bits(got, given).all() and _fits(output, each.array, None, (), _STRANGE_WITH_SHAPE):
                return f"equals the input {name}"
    return None


def find_move(output: WrongOutput) -> str | None:
    """The expected elements in other places."""
    if output.wrong_places.size < FEWEST or output.expected.size != output.got.size:
        return None
    strange = STRANGE if output.wrong is not None else _STRANGE_WITH_SHAPE
    for each in _sift(output):
        allowed = None if output.allowed is None else each.move(output.allowed)
        if _fits(output, each.move(output.expected), allowed, each.region, strange):
            return each.phrase
    return None


def _sift(output: WrongOutput) -> Sequence[_Candidate]:
    """The candidates; of a small output those that hold on some of the wrong elements, tried all at once."""
    candidates = _candidates(output.expected.shape, output.got.shape)
    if not candidates or output.got.size > _SMALL:
        return candidates
    places = spread(output.sampled_places, _SIFTED)
    sources = _sources(output.expected.shape, output.got.shape)[:, places]
    predicted = output.expected.reshape(-1)[sources]
    got = np.repeat(output.got.reshape(-1)[None, places], len(candidates), axis=0)
    holds = same_elements(output.element_type, predicted, got) | (sources < 0)
    if output.allowed is not None and not holds.all():
        limits = output.allowed.reshape(-1)[sources]
        other = ~holds
        holds[other] = measure(output.element_type, got[other], predicted[other], limits[other])[1]
    fits: list[bool] = np.all(holds, axis=1).tolist()
    return [each for each, fine in zip(candidates, fits, strict=True) if fine]


@lru_cache(maxsize=64)
def _sources(expected: tuple[int, ...], got: tuple[int, ...]) -> NDArray[np.int32]:
    """For each candidate and flat position of the output the position that it comes from, -1 for none."""
    candidates = _candidates(expected, got)
    positions = np.arange(math.prod(expected), dtype=np.int32).reshape(expected)
    sources = np.full((len(candidates), *got), -1, dtype=np.int32)
    for row, each in zip(sources, candidates, strict=True):
        row[each.region] = each.move(positions)
    return sources.reshape(len(candidates), -1)


@lru_cache(maxsize=256)
def _candidates(expected: tuple[int, ...], got: tuple[int, ...]) -> tuple[_Candidate, ...]:
    """Every move that makes an output of the one shape out of an expectation of the other."""
    # The number of orders explodes with the axes.
    orders = permutations(range(len(expected))) if len(expected) <= _MOST_AXES else ()
    found = [
        _Candidate(f"the expected output with its axes in the order {list(order)}", _transpose(order))
        for order in orders
        if order != tuple(range(len(order))) and tuple(expected[each] for each in order) == got
    ]
    if expected != got:
        return (*found, _Candidate("the expected elements in another shape", _reshape(got)))
    for axis, extent in enumerate(expected):
        if extent >= 2:
            found.append(_Candidate(f"the expected output reversed along axis {axis}", _flip(axis)))
        if extent >= 3:
            first, last = ((*(slice(None),) * axis, each) for each in (slice(-1), slice(1, None)))
            phrase = "the expected output shifted by one towards the {} of axis {}"
            found.append(_Candidate(phrase.format("start", axis), _take(last), first))
            found.append(_Candidate(phrase.format("end", axis), _take(first), last))
    return tuple(found)


def _transpose(order: tuple[int, ...]) -> Move:
    return lambda array: array.transpose(order)


def _reshape(shape: tuple[int, ...]) -> Move:
    return lambda array: array.reshape(shape)


def _flip(axis: int) -> Move:
    return lambda array: np.flip(array, axis)


def _take(region: Region) -> Move:
    return lambda array: array[region]


def _fits(
    output: WrongOutput, predicted: NDArray[Any], allowed: Floats | None, region: Region, strange: int
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
    return is_strange_order(type_, flat, limits, output.wrong_mask[region].reshape(-1), strange)


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
