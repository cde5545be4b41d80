"""Partial sums beyond the greatest finite number: where a listed route may meet one, and what it reaches."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.additions import along
from reference.numbers.numbers import Decoded, largest
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask, unit_roundoff
from reference.sums.weights import AxisWeights, differences


def overflowing(
    data: Decoded, weights: Sequence[tuple[int, AxisWeights]], layout: FloatLayout
) -> Mask | None:
    """The output elements that an infinity or NaN of an overflow may reach; None where there are none.

    `weights` are those of every axis that a route may go along, of those that copy, too: a weight of 0 turns
    an infinity into NaN. The axes are taken in every order, and all in one sum.
    """
    unit = Rationals(data.integers * data.scale.numerator, np.array(data.scale.denominator, dtype=object))
    signed = (unit / Rationals.of(largest(layout))).floats()
    reach = {axis: each.size + np.abs(each.shared) + each.fresh for axis, each in weights}
    # Every rounding on the way may raise a sum.
    taps = prod(max(int(each.terms.max(initial=1)), 1) for _, each in weights)
    limit = 1 - 2 * taps * unit_roundoff(layout)
    growth = float(prod(max(2.0, _widest(reach[axis])) for axis, _ in weights))
    if float(np.abs(signed).max(initial=0.0)) * growth < limit:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return _spread(signed, dict(weights), reach, limit)


def _widest(matrix: Floats) -> float:
    """At least the greatest sum of a row."""
    return float(matrix.max(initial=0.0)) * float(matrix.shape[1])


def _spread(
    signed: Floats, weights: dict[int, AxisWeights], reach: dict[int, Floats], limit: float
) -> Mask | None:
    """By the set of axes that a route has gone along: what it may hold there, and where it may be beyond."""
    axes = list(weights)
    nothing: frozenset[int] = frozenset()
    held: dict[frozenset[int], Floats] = {nothing: np.abs(signed)}
    apart = {(nothing, axis): differences(weights[axis], axis, signed) for axis in axes}
    beyond: dict[frozenset[int], Mask] = {nothing: np.zeros(signed.shape, dtype=np.bool_)}
    for done in _sets(axes):
        for axis in done:
            before = done - {axis}
            held[done] = along(axis, reach[axis], held[before])
            for other in axes:
                if other not in done:
                    apart[done, other] = along(axis, reach[axis], apart[before, other])
        found = np.zeros(held[done].shape, dtype=np.bool_)
        for axis in done:
            before = done - {axis}
            carried = along(axis, weights[axis].touched.astype(np.float64), beyond[before].astype(np.float64))
            # What is not a number comes of a weight without bound.
            found |= (carried > 0) | ~(held[done] < limit) | ~(apart[before, axis] < limit)
        beyond[done] = found
    every = beyond[frozenset(axes)]
    return every if every.any() else None


def _sets(axes: Sequence[int]) -> list[frozenset[int]]:
    """Every set of some of the axes, smaller ones first."""
    found = [frozenset[int]()]
    for axis in axes:
        found += [each | {axis} for each in found]
    return sorted(found[1:], key=len)
