"""Right elements in wrong places, and where wrong elements lie.

What is in another place must be right there, within what is allowed there. The answer must be one that a
random order of its values, or random places of its wrong elements, would seldom give (`is_strange_order`); a
shape that fits as well makes up for three bits. So many wrong elements in random places must lie at a border,
after the first channel or where NaN is expected less than once in 2**12 times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import permutations
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.elements import Floats, Mask, measure, same_bits, same_elements
from conformance.judging.patterns.wrong_output import (
    FEWEST,
    STRANGE,
    WrongOutput,
    is_strange_order,
    is_strange_place,
    spread,
)
from conformance.suite.values import decode_loudly
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
    for name, tensor in output.inputs:
        if tensor.element_type is output.element_type and tensor.array.shape == output.got.shape:
            places = output.sampled_places
            got, given = (array.reshape(-1)[places] for array in (output.got, tensor.array))
            if same_bits(got, given).all() and _fits(output, tensor.array, None, (), _STRANGE_WITH_SHAPE):
                return f"equals the input {name}"
    return None


def find_move(output: WrongOutput) -> str | None:
    """The expected elements in other places."""
    if output.wrong_places.size < FEWEST or output.expected.size != output.got.size:
        return None
    strange = STRANGE if output.wrong is not None else _STRANGE_WITH_SHAPE
    for candidate in _sift(output):
        allowed = None if output.allowed is None else candidate.move(output.allowed)
        if _fits(output, candidate.move(output.expected), allowed, candidate.region, strange):
            return candidate.phrase
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
    return [candidate for candidate, fine in zip(candidates, fits, strict=True) if fine]


@lru_cache(maxsize=64)
def _sources(expected: tuple[int, ...], got: tuple[int, ...]) -> NDArray[np.int32]:
    """For each candidate and flat position of the output the position that it comes from, -1 for none."""
    candidates = _candidates(expected, got)
    positions = np.arange(math.prod(expected), dtype=np.int32).reshape(expected)
    sources = np.full((len(candidates), *got), -1, dtype=np.int32)
    for row, candidate in zip(sources, candidates, strict=True):
        row[candidate.region] = candidate.move(positions)
    return sources.reshape(len(candidates), -1)


@lru_cache(maxsize=256)
def _candidates(expected: tuple[int, ...], got: tuple[int, ...]) -> tuple[_Candidate, ...]:
    """Every move that makes an output of the one shape out of an expectation of the other."""
    # The number of orders explodes with the axes.
    orders = permutations(range(len(expected))) if len(expected) <= _MOST_AXES else ()
    found = [
        _Candidate(
            f"the expected output with its axes in the order {list(order)}", methodcaller("transpose", order)
        )
        for order in orders
        if order != tuple(range(len(order))) and tuple(expected[each] for each in order) == got
    ]
    if expected != got:
        return (*found, _Candidate("the expected elements in another shape", methodcaller("reshape", got)))
    for axis, extent in enumerate(expected):
        if extent >= 2:
            found.append(
                _Candidate(f"the expected output reversed along axis {axis}", partial(np.flip, axis=axis))
            )
        if extent >= 3:
            first, last = ((*(slice(None),) * axis, each) for each in (slice(-1), slice(1, None)))
            phrase = "the expected output shifted by one towards the {} of axis {}"
            found.append(_Candidate(phrase.format("start", axis), itemgetter(last), first))
            found.append(_Candidate(phrase.format("end", axis), itemgetter(first), last))
    return tuple(found)


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
    for axis, coordinate in enumerate(coordinates):
        start, stop, _ = (region[axis] if axis < len(region) else slice(None)).indices(output.got.shape[axis])
        starts.append(start)
        inside &= (coordinate >= start) & (coordinate < stop)
    return tuple(coordinate[inside] - start for coordinate, start in zip(coordinates, starts, strict=True))


def _holds(
    element_type: ElementType, predicted: NDArray[Any], got: NDArray[Any], allowed: Floats | None
) -> bool:
    same = same_elements(element_type, np.ascontiguousarray(predicted), np.ascontiguousarray(got))
    if allowed is None or same.all():
        return bool(same.all())
    other = ~same
    return bool(measure(element_type, got[other], predicted[other], allowed[other])[1].all())


_NAMES = ("batch", "channel")


def find_place(output: WrongOutput) -> str | None:
    """The wrong elements lie in one place, and all of them do."""
    if output.wrong is None or output.wrong_places.size < FEWEST:
        return None
    return _where_nan_is_expected(output) or _after_first(output) or _at_border(output)


def _where_nan_is_expected(output: WrongOutput) -> str | None:
    if not output.element_type.is_float:
        return None
    if not np.isnan(decode_loudly(output.element_type, output.wrong_expected[:1])).all():
        return None
    nan = np.isnan(decode_loudly(output.element_type, output.expected.reshape(-1)))
    if not nan[output.wrong_places].all():
        return None
    strange = is_strange_place(nan.size, int(np.count_nonzero(nan)), output.wrong_places.size)
    return "wrong only where NaN is expected" if strange else None


def _after_first(output: WrongOutput) -> str | None:
    """The first of a batch or of the channels is right, and each of the others is wrong somewhere."""
    wrong = output.wrong_mask
    if wrong.ndim < 3:
        return None
    for axis, name in enumerate(_NAMES):
        extent = wrong.shape[axis]
        if extent < 2:
            continue
        some = _along(wrong, axis)
        beyond = wrong.size - wrong.size // extent
        if not some[0] and some[1:].all() and _strange(output, beyond):
            return f"wrong only after the first {name} (axis {axis})"
    return None


def _at_border(output: WrongOutput) -> str | None:
    """All wrong elements lie at one end of an axis, at its two ends, or at the ends of any axis."""
    wrong = output.wrong_mask
    wide = [axis for axis, extent in enumerate(wrong.shape) if extent > 2]
    for axis in wide:
        some = _along(wrong, axis)
        if some[1:-1].any():
            continue
        face = wrong.size // wrong.shape[axis]
        if not some[-1] and _strange(output, face):
            return f"wrong only at the start of axis {axis}"
        if not some[0] and _strange(output, face):
            return f"wrong only at the end of axis {axis}"
        if some[0] and some[-1] and _strange(output, 2 * face):
            return f"wrong only at the ends of axis {axis}"
    inner = tuple(slice(1, -1) if extent > 2 else slice(None) for extent in wrong.shape)
    inside = wrong[inner]
    if not wide or inside.any() or not _strange(output, wrong.size - inside.size):
        return None
    return "wrong only at the border"


def _along(wrong: Mask, axis: int) -> Mask:
    """Whether anything is wrong at each index of an axis."""
    return np.asarray(wrong.any(axis=tuple(each for each in range(wrong.ndim) if each != axis)))


def _strange(output: WrongOutput, places: int) -> bool:
    return is_strange_place(output.got.size, places, output.wrong_places.size)
