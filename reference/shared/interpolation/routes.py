"""The ways in which formulas of coordinates are computed, each by itself; partial sums that are too great."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.additions import along
from reference.numbers.estimates import Estimate
from reference.numbers.numbers import Decoded, largest
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask, unit_roundoff
from reference.sums.weights import AxisWeights, differences


class Estimated:
    """Arithmetic on Estimates: exact values with the error of the worst listed route.

    `ratio` and `quotient` are by division in every route, `divide` may go by the reciprocal. The others are
    what a route may fuse: `divide_add` is a / b + c, `multiply_add` a * b + c, `two_products` a * b + c * d.
    """

    def constant(self, value: Fraction | int) -> Estimate:
        return Estimate.held(value)

    def ratio(self, numerator: Fraction | int, denominator: int) -> Estimate:
        return Estimate.held(numerator).divide_once(denominator)

    def quotient(self, dividend: Estimate, divisor: Estimate) -> Estimate:
        return dividend.divide_once(divisor)

    def divide(self, dividend: Estimate, divisor: Estimate) -> Estimate:
        return dividend / divisor

    def divide_add(self, dividend: Estimate, divisor: Estimate, addend: Estimate) -> Estimate:
        return dividend / divisor + addend

    def multiply_add(self, a: Estimate, b: Estimate, c: Estimate) -> Estimate:
        return a * b + c

    def two_products(self, a: Estimate, b: Estimate, c: Estimate, d: Estimate) -> Estimate:
        return a * b + c * d


Width = type[np.floating[Any]]


@dataclass(frozen=True)
class Route:
    """Arithmetic of one way to compute coordinates.

    `work` is the precision of sums and products, `scales` that of ratios of lengths. `reciprocal` is None
    where divisions are divisions, else the precision of the reciprocal that is multiplied with instead.
    `result` is the precision that the coordinate is stored in. `fused` says which product of a sum is kept
    exact by a fused multiply-add, where there are two.
    """

    work: Width
    scales: Width
    reciprocal: Width | None
    result: Width
    fused: Literal["first", "second"] | None = None

    def constant(self, value: Fraction | int) -> Any:
        # Lengths and float32 scales are exact here; only a double region of interest is rounded.
        return self.work(self.scales(float(value)))

    def ratio(self, numerator: Fraction | int, denominator: int) -> Any:
        return self.work(self.scales(float(numerator)) / self.scales(denominator))

    def quotient(self, dividend: Any, divisor: Any) -> Any:
        return dividend / divisor

    def divide(self, dividend: Any, divisor: Any) -> Any:
        return dividend / divisor if self.reciprocal is None else dividend * self._inverse(divisor)

    def divide_add(self, dividend: Any, divisor: Any, addend: Any) -> Any:
        if self.reciprocal is None:
            return dividend / divisor + addend
        return self.multiply_add(dividend, self._inverse(divisor), addend)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        if self.fused is None:
            return a * b + c
        if self.work is np.float32:
            # The product of two float32 is exact in float64.
            wide = [np.asarray(each, dtype=np.float64) for each in (a, b, c)]
            return (wide[0] * wide[1] + wide[2]).astype(np.float32)
        return np.asarray(np.frompyfunc(_fuse, 3, 1)(a, b, c), dtype=np.float64)

    def two_products(self, a: Any, b: Any, c: Any, d: Any) -> Any:
        return self.multiply_add(c, d, a * b) if self.fused == "second" else self.multiply_add(a, b, c * d)

    def _inverse(self, divisor: Any) -> Any:
        width = self.reciprocal or self.work
        return self.work(width(1) / width(divisor))


RouteArithmetic: TypeAlias = Estimated | Route
"""Something to compute formulas in."""


def _fuse(a: float, b: float, c: float) -> float:
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def routes() -> Iterator[Route]:
    """Every listed way: float32 or float64, division or reciprocal, fused or not, stored in either width."""
    single, double = np.float32, np.float64
    for reciprocal in (None, single):
        yield Route(single, single, reciprocal, single)
        yield Route(single, single, reciprocal, single, "first")
        yield Route(single, single, reciprocal, single, "second")
    for result in (single, double):
        for scales in (single, double):
            for each in (None, double):
                yield Route(double, scales, each, result)
    yield Route(double, double, None, double, "first")
    yield Route(double, double, None, double, "second")


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
