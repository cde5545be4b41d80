"""One output against what it must be: bit patterns where exactness is asked, the allowed error elsewhere.

Elements are taken in blocks that fit into a processor's cache, and only those whose bits differ are decoded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.judging.patterns.elements import (
    Floats,
    Mask,
    measure,
    same_bits,
    same_elements,
    ulp_distance,
    ulp_distances,
)
from conformance.suite.cases import Alternative, ExpectedOutput
from conformance.suite.values import JsonNumber, element_to_json
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

Difference = Literal["type", "shape", "value"]
_BLOCK = 1 << 15


@dataclass(frozen=True)
class Worst:
    """The element that is farthest off.

    `ratio` is distance / allowed, None where equality was asked; `ulps` the distance in steps of the element
    type, None where it has none or an element is NaN.
    """

    output: int
    index: tuple[int, ...]
    got: JsonNumber | list[JsonNumber]
    expected: JsonNumber | list[JsonNumber]
    allowed: float | None
    ratio: float | None
    ulps: int | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out of comparing one output. `difference` is None where it is as it must be.

    `same_bits` says whether it is bit for bit the expectation; `ulps` is the greatest distance of a right
    element from it, in steps of an element type of floats; `wrong` is the mask of wrong elements where
    the difference is in values, `wrong_elements` their number; `worst` is also given for a right output that
    used some of its allowance.
    """

    difference: Difference | None
    same_bits: bool = False
    elements: int = 0
    wrong: Mask | None = None
    wrong_elements: int = 0
    ulps: int = 0
    look_for_worst: Callable[[], Worst | None] = lambda: None

    @cached_property
    def worst(self) -> Worst | None:
        """Looked for when it is asked for: most expectations that are not met are met by another one."""
        with np.errstate(all="ignore"):
            return self.look_for_worst()


def compare_output(expected: ExpectedOutput, got: Tensor, position: int = 0) -> Comparison:
    """Compare one output, the `position`th, with its expectation."""
    wanted = expected.expected
    if got.element_type is not wanted.element_type:
        return Comparison("type")
    if got.array.shape != wanted.array.shape:
        return Comparison("shape")
    elements = int(wanted.array.size)
    # One axis from here on: what numpy does with arrays of rank 0 differs from what it does with others.
    pair = _Pair(
        wanted.element_type,
        got.array.reshape(-1),
        wanted.array.reshape(-1),
        None if expected.allowed is None else expected.allowed.reshape(-1),
    )
    same = same_bits(pair.got, pair.expected)
    if same.all():
        return Comparison(None, same_bits=True, elements=elements)
    with np.errstate(all="ignore"):
        wrong, farthest, ulps = _find_wrong(pair, same)
        if wrong is not None:
            _accept_alternatives(pair, expected.alternatives, wrong)
            count = int(np.count_nonzero(wrong))
            if count:
                worst = partial(_describe_worst, pair, wrong, got.shape, position)
                return Comparison("value", False, elements, wrong.reshape(got.shape), count, ulps, worst)
    if farthest is None or farthest.ratio == 0:
        return Comparison(None, False, elements, ulps=ulps)
    used = partial(_describe, pair, farthest, got.shape, position)
    return Comparison(None, False, elements, None, 0, ulps, used)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two flat arrays in storage, and what each element is allowed."""

    element_type: ElementType
    got: NDArray[Any]
    expected: NDArray[Any]
    allowed: Floats | None

    def allowed_at(self, positions: NDArray[np.intp] | slice) -> Floats | None:
        return None if self.allowed is None else self.allowed[positions]


@dataclass(frozen=True, order=True)
class _Farthest:
    """The first is farther than the second where it is greater."""

    ratio: float
    apart: float
    position: int


def _find_wrong(pair: _Pair, same: Mask) -> tuple[Mask | None, _Farthest | None, int]:
    """The mask of wrong elements, None where there is none; the right one that is farthest off by what it is
    allowed, and how far right ones are off in steps of their type."""
    wrong: Mask | None = None
    farthest: _Farthest | None = None
    ulps = 0
    for positions in _differing(same):
        got, expected = pair.got[positions], pair.expected[positions]
        allowed = pair.allowed_at(positions)
        if allowed is None:
            bad = ~same_elements(pair.element_type, got, expected)
        else:
            apart, near = measure(pair.element_type, got, expected, allowed)
            bad = ~near
            farthest = _farther(farthest, _farthest_of(apart, allowed, positions, near))
            steps = ulp_distances(pair.element_type, got, expected)
            if steps is not None and near.any():
                ulps = max(ulps, int(steps[near].max()))
        if bad.any():
            if wrong is None:
                wrong = np.zeros(same.shape, dtype=np.bool_)
            wrong[positions] = bad
    return wrong, farthest, ulps


def _differing(same: Mask) -> Iterator[NDArray[np.intp] | slice]:
    """Block by block where the elements are that differ."""
    for start in range(0, same.size, _BLOCK):
        block = same[start : start + _BLOCK]
        if not block.any():
            yield slice(start, start + block.size)
        elif not block.all():
            yield np.flatnonzero(~block) + start


def _describe_worst(pair: _Pair, wrong: Mask, shape: tuple[int, ...], position: int) -> Worst:
    return _describe(pair, _find_worst(pair, wrong), shape, position)


def _find_worst(pair: _Pair, wrong: Mask) -> _Farthest:
    found: _Farthest | None = None
    for positions in _differing(~wrong):
        allowed = pair.allowed_at(positions)
        apart, _ = measure(pair.element_type, pair.got[positions], pair.expected[positions], None)
        found = _farther(found, _farthest_of(apart, allowed, positions, None))
    assert found is not None
    return found


def _farther(first: _Farthest | None, second: _Farthest | None) -> _Farthest | None:
    """The farther one; the first where they are equally far."""
    if first is None or second is None:
        return second if first is None else first
    return second if (second.ratio, second.apart) > (first.ratio, first.apart) else first


def _farthest_of(
    apart: Floats, allowed: Floats | None, positions: NDArray[np.intp] | slice, considered: Mask | None
) -> _Farthest | None:
    """The farthest of those considered, by distance / allowed, and by distance where that is infinite."""
    if allowed is None:
        place = int(apart.argmax())
        ratio = math.inf if apart[place] > 0 else 0.0
        return _Farthest(ratio, float(apart[place]), _position(positions, place))
    ratios = apart / allowed
    if considered is not None and not considered.all():
        ratios[~considered] = np.nan
    place = int(ratios.argmax())
    greatest = float(ratios[place])
    if greatest < math.inf:  # ties between finite ones do not matter
        return _Farthest(greatest, float(apart[place]), _position(positions, place))
    greatest = float(np.fmax.reduce(ratios))
    if math.isnan(greatest):  # nothing but zero / zero, infinity / infinity and what is left out
        if considered is not None:
            return None
        return _Farthest(0.0, float(apart[0]), _position(positions, 0))
    ties = np.flatnonzero(ratios == greatest)
    place = int(ties[apart[ties].argmax() if ties.size > 1 else 0])
    return _Farthest(greatest, float(apart[place]), _position(positions, place))


def _position(positions: NDArray[np.intp] | slice, place: int) -> int:
    return positions.start + place if isinstance(positions, slice) else int(positions[place])


def _accept_alternatives(pair: _Pair, alternatives: Sequence[Alternative], wrong: Mask) -> None:
    for alternative in alternatives:
        if wrong[alternative.index]:
            candidates = np.empty(len(alternative.values), dtype=pair.got.dtype)
            candidates[:] = alternative.values
            wrong[alternative.index] = not _accepted(pair, alternative.index, candidates).any()


def _accepted(pair: _Pair, index: int, candidates: NDArray[Any]) -> Mask:
    """Which candidates an element is: a component in which one is as expected keeps the allowed error."""
    got, expected = (
        np.repeat(array[index : index + 1], len(candidates)) for array in (pair.got, pair.expected)
    )
    if pair.element_type.kind != "complex" or pair.allowed is None:
        return same_elements(pair.element_type, got, candidates)
    component = pair.element_type.component
    limits = np.repeat(pair.allowed[index : index + 1], len(candidates))
    accepted = np.ones(candidates.shape, dtype=np.bool_)
    for mine, wanted, candidate in ((got.real, expected.real, candidates.real),
                                    (got.imag, expected.imag, candidates.imag)):  # fmt: skip
        _, near = measure(component, mine, wanted, limits)
        near &= same_elements(component, candidate, wanted)
        accepted &= near | same_elements(component, mine, candidate)
    return accepted


def _describe(pair: _Pair, farthest: _Farthest, shape: tuple[int, ...], position: int) -> Worst:
    flat = farthest.position
    got, expected = pair.got[flat], pair.expected[flat]
    limit = None if pair.allowed is None else float(pair.allowed[flat])
    measured = limit is not None and limit > 0 and math.isfinite(farthest.ratio)
    return Worst(
        output=position,
        index=tuple(int(coordinate) for coordinate in np.unravel_index(flat, shape)),
        got=element_to_json(pair.element_type, got),
        expected=element_to_json(pair.element_type, expected),
        allowed=limit,
        ratio=farthest.ratio if measured else None,
        ulps=ulp_distance(pair.element_type, got, expected),
    )
