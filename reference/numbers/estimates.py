"""Numbers that carry their own error: an exact value, and how far honest arithmetic may come to lie from it.

A formula written once over Estimates gives the exact result, and a bound of what floating-point arithmetic
makes of the same formula. docs/why-believe.md derives the rules.

Interpolation alone is computed in them, all else in Numbers (`reference/numbers/number_arrays.py`), which
know no error that several numbers share, as the weights of one position share that of its coordinate, and
raise bounds by another slack: no allowed error, which is part of a case, would stay what it is to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from opcert.vocabulary.element_types import BINARY32, FloatLayout
from reference.numbers.additions import total
from reference.numbers.exact_sums import sums_exactly
from reference.numbers.numbers import smallest_subnormal
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask, power_below, unit_roundoff

_SLACK = math.ldexp(1.0, -48)
"""More than the relative error of the few float64 operations between two calls of `rounded_up`."""


def rounded_up(bound: Floats) -> Floats:
    """A bound computed in float64, raised so that it holds in exact arithmetic; zero stays zero."""
    with np.errstate(over="ignore"):
        return np.where(bound == 0, 0.0, np.nextafter(bound * (1 + _SLACK), np.inf))


@dataclass(frozen=True, eq=False)
class Estimate:
    """An array of numbers as a floating-point program holds them: `value + shared * e + f`.

    `value` is exact. `e` is one unknown number in [-1, 1], the same in every element that it enters, so that
    it cancels where elements are subtracted; `f` is any number in [-fresh, fresh], independent in every
    element. `layout` is the precision that the program works in. Where both are zero, every listed way to
    compute the number gives `value` itself.
    """

    value: Rationals
    shared: Floats
    fresh: Floats
    layout: FloatLayout = BINARY32

    @classmethod
    def exact(cls, values: object, layout: FloatLayout = BINARY32) -> Estimate:
        """Numbers without error: integers, Fractions, or nested sequences of them."""
        value = values if isinstance(values, Rationals) else Rationals.of(values)
        return cls(value, np.zeros(value.shape), np.zeros(value.shape), layout)

    @classmethod
    def held(cls, values: object, layout: FloatLayout = BINARY32) -> Estimate:
        """Numbers that a program has to hold: one rounding where they are not representable."""
        exact = cls.exact(values, layout)
        nothing = np.zeros(exact.value.shape)
        return exact._round(exact.value, nothing, nothing, 1, exact.is_exact, None, least=1)

    def tied(self) -> Estimate:
        """The same numbers, each held once and used in several places: all their error is shared.

        There may be no other shared error than theirs in what they are combined with.
        """
        return Estimate(self.value, self.error, np.zeros(self.error.shape), self.layout)

    @property
    def error(self) -> Floats:
        """The greatest distance from `value`."""
        return rounded_up(np.abs(self.shared) + self.fresh)

    @property
    def magnitude(self) -> Floats:
        """The greatest absolute value that a program may hold."""
        return rounded_up(np.abs(self.value.floats()) + np.abs(self.shared) + self.fresh)

    @property
    def is_exact(self) -> Mask:
        return np.asarray((self.shared == 0) & (self.fresh == 0))

    def __neg__(self) -> Estimate:
        return Estimate(-self.value, -self.shared, self.fresh, self.layout)

    def __abs__(self) -> Estimate:
        """The absolute value; where the sign is in doubt the shared error counts as fresh."""
        sign = np.sign(self.value.floats())
        doubtful = np.abs(self.value.floats()) * (1 - _SLACK) <= self.error
        shared = np.where(doubtful, 0.0, self.shared * sign)
        fresh = np.where(doubtful, self.error, self.fresh)
        return Estimate(abs(self.value), shared, fresh, self.layout)

    def __add__(self, other: Estimate | int | Fraction) -> Estimate:
        """A sum: one rounding, none where it is exact."""
        other = self._lift(other)
        shared = self.shared + other.shared
        slack = _SLACK * (np.abs(self.shared) + np.abs(other.shared))
        fresh = rounded_up(self.fresh + other.fresh + slack)
        # Adding zero rounds nothing.
        free = (self.is_exact & (self.value.numerator == 0)) | (other.is_exact & (other.value.numerator == 0))
        return self._round(self.value + other.value, shared, fresh, 1, self.is_exact & other.is_exact, free)

    def __radd__(self, other: int | Fraction) -> Estimate:
        return self + other

    def __sub__(self, other: Estimate | int | Fraction) -> Estimate:
        return self + -self._lift(other)

    def __rsub__(self, other: int | Fraction) -> Estimate:
        return -self + other

    def __mul__(self, other: Estimate | int | Fraction) -> Estimate:
        """A product: one rounding, none where it is exact or a factor is a power of two."""
        other = self._lift(other)
        ours, theirs = self.value.floats(), other.value.floats()
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = ours * other.shared, theirs * self.shared
            fresh = np.abs(ours) * other.fresh + np.abs(theirs) * self.fresh + self.error * other.error
            fresh = rounded_up(fresh + _SLACK * (np.abs(left) + np.abs(right)))
        free = (self.is_exact & self.value.powers_of_two()) | (other.is_exact & other.value.powers_of_two())
        both = self.is_exact & other.is_exact
        return self._round(self.value * other.value, left + right, fresh, 1, both, free & ~both, least=1)

    def __rmul__(self, other: int | Fraction) -> Estimate:
        return self * other

    def __truediv__(self, other: Estimate | int | Fraction) -> Estimate:
        """A quotient, by division or by multiplication with the reciprocal: two roundings.

        None where both ways are exact. Where the divisor may be zero the error is infinite.
        """
        other = self._lift(other)
        inverse = Estimate.exact(1, self.layout).divide_once(other)
        quotient, shared, fresh = self._quotient(other)
        both = self.is_exact & inverse.is_exact
        free = other.is_exact & other.value.powers_of_two()
        return self._round(quotient, shared, fresh, 2, both, free & ~both, least=2)

    def divide_once(self, other: Estimate | int | Fraction) -> Estimate:
        """A quotient by division alone, as every listed route has it for ratios of lengths: one rounding."""
        other = self._lift(other)
        quotient, shared, fresh = self._quotient(other)
        return self._round(quotient, shared, fresh, 1, self.is_exact & other.is_exact, None, least=1)

    def _quotient(self, other: Estimate) -> tuple[Rationals, Floats, Floats]:
        quotient = self.value / other.value
        ratio, divisor = quotient.floats(), np.abs(other.value.floats()) * (1 - _SLACK)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            left, right = self.shared / other.value.floats(), ratio * (other.shared / other.value.floats())
            first = (self.fresh + np.abs(ratio) * other.fresh) / divisor
            second = (self.error + np.abs(ratio) * other.error) / divisor * other.error
            second = second / (divisor - other.error)
            fresh = rounded_up(first + second + _SLACK * (np.abs(left) + np.abs(right)))
            fresh = np.where((other.error >= divisor) & (other.error > 0), np.inf, fresh)
        return quotient, left - right, fresh

    def total(self, axis: int) -> Estimate:
        """The sum along an axis (kept with length 1) in any order: one rounding less than terms."""
        terms = np.broadcast_to(self.magnitude, self.value.shape)
        several = np.maximum(np.count_nonzero(terms, axis=axis, keepdims=True) - 1, 0)
        fresh = rounded_up(total(np.broadcast_to(self.fresh, terms.shape), axis))
        shared = np.broadcast_to(self.shared, terms.shape)
        slack = _SLACK * total(np.abs(shared), axis)
        exact = np.broadcast_to(self.is_exact, terms.shape).all(axis=axis, keepdims=True)
        with np.errstate(over="ignore"):
            most = total(terms, axis) * (1 + _SLACK)
        exact &= sums_exactly(self.value, most, axis, self.layout)
        charge = several * unit_roundoff(self.layout) * total(terms, axis)
        fresh = rounded_up(fresh + slack + np.where(exact, 0.0, charge * (1 + _SLACK)))
        return Estimate(self.value.total(axis), total(shared, axis), fresh, self.layout)

    def where(self, chosen: Mask, other: Estimate) -> Estimate:
        """These where `chosen`, the others elsewhere."""
        return Estimate(
            self.value.where(chosen, other.value),
            np.where(chosen, self.shared, other.shared),
            np.where(chosen, self.fresh, other.fresh),
            self.layout,
        )

    def _lift(self, other: Estimate | int | Fraction) -> Estimate:
        return other if isinstance(other, Estimate) else Estimate.exact(other, self.layout)

    def _round(
        self,
        value: Rationals,
        shared: Floats,
        fresh: Floats,
        roundings: int,
        operands_exact: Mask,
        free: Mask | None,
        least: int = 0,
    ) -> Estimate:
        """The result with its rounding errors; `least` of them may also underflow.

        Nothing is charged where the operands are exact and the result representable, nor where `free`.
        """
        shape = np.broadcast_shapes(value.shape, shared.shape, fresh.shape)
        exact = np.broadcast_to(operands_exact, shape)
        if exact.any():
            exact = exact & value.representable(self.layout)
        if free is not None:
            exact = exact | free
        size = rounded_up(np.abs(value.floats()) + np.abs(shared) + fresh)
        unit = unit_roundoff(self.layout)
        charge = unit * power_below(size) + least * float(smallest_subnormal(self.layout))
        if roundings > 1:
            charge = charge + (roundings - 1) * unit * (1 + unit) * size
        total = np.where(exact, fresh, rounded_up(fresh + charge))
        # Zero times an infinite error says nothing.
        total = np.where(np.isnan(total), np.inf, total)
        return Estimate(value, np.broadcast_to(shared, shape), np.broadcast_to(total, shape), self.layout)


def hull(pieces: Sequence[tuple[Mask, Mask, Estimate]]) -> Estimate:
    """A piecewise function. A piece: where the exact argument lies in it, where a computed one may, result.

    The value is that of the exact argument's piece; where several pieces may be reached the error spans them
    all, and counts as fresh.
    """
    layout = pieces[0][2].layout
    shape = np.broadcast_shapes(*(each[2].value.shape for each in pieces))
    result = Estimate.exact(np.zeros(shape, dtype=object), layout)
    for inside, _, piece in pieces:
        result = piece.where(np.broadcast_to(inside, shape), result)
    reached = np.count_nonzero([np.broadcast_to(touched, shape) for _, touched, _ in pieces], axis=0)
    several = np.asarray(reached > 1)
    if not several.any():
        return result
    span = np.zeros(shape)
    centre = result.value
    for _, touched, piece in pieces:
        apart = np.abs((piece.value - centre).floats()) + np.abs(piece.shared) + piece.fresh
        span = np.where(touched & several, np.maximum(span, apart), span)
    return Estimate(
        result.value,
        np.where(several, 0.0, result.shared),
        np.where(several, rounded_up(span), result.fresh),
        layout,
    )
