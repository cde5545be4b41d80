"""Numbers as programs compute with them: exact value, greatest honest error, and what IEEE arithmetic says.

A formula written once over Numbers gives the correctly rounded result, a bound of what floating-point
arithmetic in any order makes of it, and NaN or an infinity where that is what comes out. docs/why-believe.md
derives what each operation is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BINARY32
from opcert.vocabulary.tensors import Tensor
from reference.numbers.exact_roots import root
from reference.numbers.given_numbers import given_numbers
from reference.numbers.noted_functions import VALUE, note_function, note_steps
from reference.numbers.rationals import Rationals, joint_shape
from reference.numbers.working import (
    MARGIN,
    SLACK,
    Floats,
    Mask,
    Working,
    power_below,
    reciprocal_errors,
    relaxed_errors,
    rounded_up,
)

_ROUNDINGS = math.ldexp(1.0, -8)
"""More than a few roundings of a result come to, which leave its sign."""
_ROOT_ULPS = 3.0
"""Units in the last place of float32, by the table that `reference/functions/functions.py` cites."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """An array of numbers in the arithmetic of one call; shapes broadcast as numpy's do.

    `value` is exact, and 0 where `sign` is NaN or an infinity: there IEEE arithmetic gives that. Elsewhere
    `sign` is 1, -1 or a zero with its sign. A program holds a number within `error` of the value, and may
    hold anything where `lost`: where something on the way was beyond the greatest number; an infinity that is
    lost may be NaN as well. `instead` are numbers without error that a program may come to as well where
    there are any (NaN: none), and theirs: of a result alone, since operations leave it out.
    """

    working: Working
    value: Rationals
    error: Floats
    sign: Floats
    lost: Mask
    instead: Numbers | None = None

    @classmethod
    def of(cls, given: Tensor, working: Working | None = None) -> Numbers:
        """The elements of a tensor of numbers or booleans; subnormal ones may count as zero where flushed.

        Integers are exact in arithmetic of their own, and rounded where they enter that of floats; floats are
        where they are computed in less.
        """
        working = Working(given.element_type) if working is None else working
        kind = given.element_type
        if kind.kind == "bool":
            return cls.exact(given.array.astype(np.int64).astype(object), working)
        known = given_numbers(given)
        nothing = np.zeros(given.shape)
        found = cls(working, known.value, nothing, known.sign, np.zeros(given.shape, dtype=np.bool_))
        if kind.is_float:
            found = found if known.least >= working.least_normal else found._flushed(nothing)
            return found if working.arithmetic is None else found.rounded(1, exact=found.error == 0, least=1)
        wide = known.wide or working.arithmetic is not None
        return found.rounded(1, exact=True) if working.is_float and wide else found

    @classmethod
    def exact(cls, values: object, working: Working) -> Numbers:
        """Numbers without error: integers, Fractions, or nested sequences of them."""
        value = values if isinstance(values, Rationals) else Rationals.of(values)
        sign = np.broadcast_to(value.signs(), value.shape)
        return cls(working, value, np.zeros(value.shape), sign, np.zeros(value.shape, dtype=np.bool_))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.error.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_integer(self) -> bool:
        return not self.working.is_float

    @cached_property
    def finite(self) -> Mask:
        return np.isfinite(self.sign)

    @cached_property
    def open(self) -> Mask:
        """Where anything may be: any number, an infinity or NaN."""
        return np.asarray(self.finite & np.isinf(self.error))

    @cached_property
    def magnitude(self) -> Floats:
        """The greatest absolute value that a program may hold; 0 where that is no number."""
        return rounded_up(np.abs(self.value.floats()) + self.error)

    def __neg__(self) -> Numbers:
        return replace(self, value=-self.value, sign=-self.sign)

    def __abs__(self) -> Numbers:
        return replace(self, value=abs(self.value), sign=np.abs(self.sign))

    def __add__(self, other: Numbers | Fraction | int) -> Numbers:
        """A sum: one rounding, none where it is exact."""
        other = self.lift(other)
        with np.errstate(invalid="ignore"):
            special = self.sign + other.sign
        value = self.value + other.value
        both_negative = np.signbit(self.sign) & np.signbit(other.sign)
        zero = np.where((self.sign == 0) & (other.sign == 0) & both_negative, -0.0, 0.0)
        free = _is_zero(self) | _is_zero(other)
        error = rounded_up(self.error + other.error)
        return self._combined(other, value, error, special, zero).rounded(
            1, exact=(self.error == 0) & (other.error == 0), free=free
        )

    def __radd__(self, other: Fraction | int) -> Numbers:
        return self + other

    def __sub__(self, other: Numbers | Fraction | int) -> Numbers:
        return self + -self.lift(other)

    def __rsub__(self, other: Fraction | int) -> Numbers:
        return -self + other

    def __mul__(self, other: Numbers | Fraction | int) -> Numbers:
        """A product: one rounding, none where it is exact or one factor is a power of two."""
        other = self.lift(other)
        with np.errstate(invalid="ignore"):
            special = self.sign * other.sign
        ours, theirs = np.abs(self.value.floats()), np.abs(other.value.floats())
        with np.errstate(over="ignore", invalid="ignore"):
            error = ours * other.error + theirs * self.error + self.error * other.error
        exact = (self.error == 0) & (other.error == 0)
        error = np.where(exact, 0.0, rounded_up(error))
        perhaps, either = infinities_met(self, other)
        joined = self._combined(other, self.value * other.value, error, special, special)
        found = replace(joined, lost=joined.lost | perhaps).rounded(1, exact=exact, least=1)
        return found.or_also(-found, either) if either.any() else found

    def __rmul__(self, other: Fraction | int) -> Numbers:
        return self * other

    def __truediv__(self, other: Numbers | Fraction | int) -> Numbers:
        """A quotient, by division or by the reciprocal: two roundings, none where both ways are exact."""
        return self.divided(self.lift(other), by_reciprocal=True)

    def __rtruediv__(self, other: Fraction | int) -> Numbers:
        return self.lift(other) / self

    def divided(self, other: Numbers, *, by_reciprocal: bool = False) -> Numbers:
        """A quotient by division: one rounding; by the reciprocal, where programs may do that, another.

        A finite number over zero is an infinity, zero over zero NaN; where the divisor may or may not be zero
        anything may come out.
        """
        divisor = Rationals(
            np.where(_is_zero_value(other), 1, other.value.numerator).astype(object), other.value.denominator
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            special = self.sign / other.sign
        # Where the quotient is a number the divisor is one that is not zero, or infinite.
        value = self.value / divisor
        ratio, size = np.abs(value.floats()), np.abs(divisor.floats())
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            error = (self.error + ratio * other.error) / (size - other.error)
        error = np.where((self.error == 0) & (other.error == 0), 0.0, rounded_up(error))
        doubtful = (other.error >= size * (1 - SLACK)) & (other.error > 0)
        exact = (self.error == 0) & (other.error == 0)
        lost = doubtful
        if self.working.is_float and by_reciprocal:
            inverse = Rationals.of(1) / divisor
            exact = exact & inverse.representable(self.working.layout)
            more, beyond = reciprocal_errors(self, other, inverse, ratio)
            error, lost = np.where(more > 0, rounded_up(error + more), error), lost | beyond
        if self.working.is_relaxed:
            error, unsaid = relaxed_errors(self, other, error, ratio, by_reciprocal=by_reciprocal)
            exact, lost, doubtful = False & exact, lost | unsaid, doubtful | unsaid
        if self.working.arithmetic is not None:
            # A divisor beyond the format may be an infinity, and what is divided by that is zero.
            over = other.lost | (other.magnitude >= self.working.greatest * (1 - MARGIN))
            error = np.where(over & other.finite & self.finite, np.maximum(error, ratio), error)
        value = value.where(np.isfinite(other.sign), Rationals.of(0))
        joined = self._combined(other, value, np.where(doubtful, np.inf, error), special, special)
        over_zero = _is_zero(other) & self.may_be_zero()
        joined = replace(joined, lost=joined.lost | (lost & joined.finite) | over_zero)
        # Zero over any number, and any number over an infinity, is zero by either way.
        free = _is_zero(self) | np.isinf(other.sign)
        times = 2 if by_reciprocal else 1
        found = joined.rounded(times, exact=exact, free=free, least=times)
        infinite = np.isinf(self.sign)
        if not (infinite.any() or over_zero.any()):
            return found
        either = (infinite & other.may_change_sign()) | (over_zero & self.may_change_sign())
        return found.or_also(-found, either)

    def truncated_quotient(self, other: Numbers) -> Numbers:
        """Of integers, the quotient without its fraction; a division by zero is the caller's to exclude."""
        quotient = (abs(self) / abs(other)).value
        whole = Rationals(quotient.floors(), np.array(1, dtype=object))
        sign = self.value.signs() * other.value.signs()
        return Numbers.exact((-whole).where(sign < 0, whole), self.working)

    def sqrt(self) -> Numbers:
        """The square root within its allowance; NaN of what is below zero, and of what may be it is lost.

        The root of a square is exact. Source: the table that `reference.functions.functions` cites, where
        sqrt has 3 units in the last place of float32 and is correctly rounded in float64 and float16.
        """
        note_function("sqrt")
        note_steps(VALUE * self.error.size)
        self.working.note_chain(self.beyond_type())
        roots, inexact = np.empty(self.shape, dtype=object), np.zeros(self.shape, dtype=np.bool_)
        for index, each in enumerate(self.value.fractions()):
            roots.flat[index], inexact.flat[index] = root(max(each, Fraction(0)))
        with np.errstate(invalid="ignore"):
            special = np.sqrt(self.sign)
        value = Rationals.of(roots)
        held = value.floats()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # |sqrt(v + e) - sqrt(v)| is at most e / sqrt(v), and at most sqrt(e).
            error = np.minimum(self.error / held, np.sqrt(self.error))
        error = np.where(self.error == 0, 0.0, rounded_up(error))
        doubtful = (self.sign != 0) & (self.error > 0) & (self.magnitude < 2 * self.error)
        lost = self.as_operand().lost | doubtful
        found = replace(self, value=value, error=error, sign=special, lost=lost)
        arithmetic = self.working.arithmetic
        ulps = _ROOT_ULPS if self.working.layout == BINARY32 else 0.5
        if arithmetic is not None:
            # Of float32's root the result is rounded.
            ulps = 0.5 + math.ldexp(_ROOT_ULPS, arithmetic.layout.precision - BINARY32.precision)
        rooted = found.rounded(1, exact=(self.error == 0) & ~inexact, ulps=ulps)
        # The root of a negative zero is that zero.
        return rooted.or_also(0, (self.sign < 0) & self.may_be_zero())

    def where(self, chosen: Mask, other: Numbers | Fraction | int) -> Numbers:
        """These where `chosen`, the others elsewhere."""
        other = self.lift(other)
        return Numbers(
            self.working,
            self.value.where(chosen, other.value),
            np.where(chosen, self.error, other.error),
            np.where(chosen, self.sign, other.sign),
            np.where(chosen, self.lost, other.lost),
        )

    def may_be_zero(self) -> Mask:
        """Where a number that is none may be held as zero, as one that is flushed."""
        return self.finite & (self.error > 0) & (self.error >= np.abs(self.value.floats()))

    def may_change_sign(self) -> Mask:
        """Where a number may be held as one of the other sign, which no rounding or underflow makes of it."""
        slack = 4 * self.working.least if self.working.is_float else 0.0
        with np.errstate(over="ignore"):
            size = np.abs(self.value.floats()) * (1 + _ROUNDINGS) + slack
        return np.asarray(self.finite & (self.error > size))

    def or_also(self, other: Numbers | int, where: Mask) -> Numbers:
        """The same, or another number in their place."""
        if not where.any():
            return self
        given = self.lift(other).broadcast(self.shape)
        others = replace(given, sign=np.where(where, given.sign, np.nan), instead=self.instead)
        return replace(self, instead=others)

    def or_else(self, other: Numbers | int, where: Mask) -> Numbers:
        """The same, or another number in their place, NaN or an infinity, where an overflow led to that."""
        mask = np.broadcast_to(where, self.shape)
        return replace(self.or_also(other, mask), lost=self.lost | mask)

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Numbers:
        """The numbers in another order or shape: what a function of arrays that moves elements gives."""
        return Numbers(
            self.working,
            self.value.spread(self.shape).arranged(arrange),
            arrange(self.error),
            arrange(self.sign),
            arrange(self.lost),
            None if self.instead is None else self.instead.arranged(arrange),
        )

    def reshape(self, shape: tuple[int, ...]) -> Numbers:
        return self.arranged(lambda each: each.reshape(shape))

    def transposed(self, order: tuple[int, ...] | None = None) -> Numbers:
        return self.arranged(lambda each: np.transpose(each, order))

    def broadcast(self, shape: tuple[int, ...]) -> Numbers:
        parts = (self.error, self.sign, self.lost)
        if self.instead is None and all(each.shape == shape for each in parts):
            value = self.value.spread(shape)
            return self if value is self.value else replace(self, value=value)
        return self.arranged(lambda each: np.broadcast_to(each, shape))

    def gather(self, places: NDArray[np.intp], inside: Mask | None = None) -> Numbers:
        """The elements at flat places; zero where they are not `inside`."""
        if inside is None:
            return self.arranged(lambda each: each.reshape(-1)[places])
        if not self.error.size:
            return Numbers.exact(np.zeros(places.shape, dtype=object), self.working)
        found = self.arranged(lambda each: each.reshape(-1)[np.where(inside, places, 0)])
        return found.where(inside, 0)

    def lift(self, other: Numbers | Fraction | int) -> Numbers:
        """The other operand in this arithmetic; a constant as a program holds it."""
        return other if isinstance(other, Numbers) else self.held(other)

    def held(self, value: Fraction | int) -> Numbers:
        """A constant as a program holds it: rounded where it is no number of the working precision."""
        found: Numbers | None = self.working.constants.get(value)
        if found is None:
            exact = Numbers.exact(value, self.working)
            small = self.working.is_float and float(abs(value)) < self.working.least_normal
            found = exact.rounded(1, exact=True, least=int(small))
            self.working.constants[value] = found
        return found

    def _combined(
        self, other: Numbers, value: Rationals, error: Floats, special: Floats, zero: Floats
    ) -> Numbers:
        """What an operation on two gives, before it is rounded; an operand beyond all bounds loses it."""
        lost = self.lost | other.lost
        if self.working.is_narrow:
            self.working.note_chain(self.beyond_type() | other.beyond_type())
        if self.working.is_float:
            ends = self.working.greatest * (1 - MARGIN)
            for each in (self, other):
                if each.instead is not None:
                    either = np.isinf(each.sign) & (each.instead.sign == -each.sign)
                    special, error, lost = beside_open(either, special, error, lost)
                    zero = np.where(np.isfinite(zero), zero, special)
                if each.error.any():
                    lost = lost | (each.finite & (each.magnitude >= ends) & (each.error > 0))
                    special, error, lost = beside_open(each.open, special, error, lost)
                    zero = np.where(np.isfinite(zero), zero, special)
                if self.working.arithmetic is not None:
                    # An infinity beside what is perhaps the other one may be no number.
                    special, error, lost = beside_open(
                        each.as_operand().lost & each.finite, special, error, lost
                    )
                    zero = np.where(np.isfinite(zero), zero, special)
        return settled(self.working, value, error, special, zero, lost)

    def as_operand(self) -> Numbers:
        """The same as a program holds them that goes on with them: beyond the format perhaps an infinity."""
        if self.working.arithmetic is None:
            return self
        beyond = self.finite & (self.error > 0) & (self.magnitude >= self.working.greatest * (1 - MARGIN))
        return replace(self, lost=self.lost | beyond) if beyond.any() else self

    def beyond_type(self) -> Mask:
        """Where this is no number of a narrow type, so that one rounded to it on the way is another."""
        if not self.working.is_narrow:
            return np.zeros((), dtype=np.bool_)
        held = self.value.spread(self.shape).representable(self.working.own_layout)
        return np.asarray(self.finite & (~held | (self.error > 0)))

    def rounded(
        self,
        roundings: int,
        *,
        exact: Mask | bool,
        free: Mask | bool = False,
        least: float | Floats = 0,
        ulps: float | Floats = 0.5,
        beside: float | Floats = 0.0,
    ) -> Numbers:
        """With the errors of rounding; `least` of them may also underflow.

        The first is of so many units in the last place, as a rule of half one, and what is `beside` them.
        Nothing is charged where the operands are `exact` and the result representable, nor where it is
        `free`: where it is one of the operands.
        """
        if not self.working.is_float:
            return self
        kept = exact
        if exact is not False and np.any(exact):
            kept = exact & self.value.spread(self.shape).representable(self.working.layout)
        working = self.working
        size = self.magnitude
        charge = 2 * ulps * working.unit * power_below(size) + least * working.least + beside
        if roundings > 1:
            charge = charge + (roundings - 1) * working.unit * (1 + working.unit) * size
        error = np.where(kept | free | ~self.finite, self.error, rounded_up(self.error + charge))
        return self._flushed(error)

    def _flushed(self, error: Floats) -> Numbers:
        """What is below the smallest normal number may be zero, where that is so."""
        size = np.abs(self.value.floats())
        tiny = self.finite & (self.sign != 0) & self.working.may_flush(size, error)
        if self.working.flushes(tiny):
            reach = np.minimum(size, self.working.least_normal)
            error = np.where(tiny, rounded_up(error + reach), error)
        elif error is self.error:
            return self
        return Numbers(self.working, self.value, error, self.sign, self.lost)


def beside_open(anything: Mask, special: Floats, error: Floats, lost: Mask) -> tuple[Floats, Floats, Mask]:
    """What is special, the error and what is lost of a result, where an operand may be anything.

    What an infinity makes of that may be NaN, or the other infinity.
    """
    mask = np.isinf(special) & anything
    if not mask.any():
        return special, error, lost
    return np.where(mask, 1.0, special), np.where(mask, np.inf, error), np.asarray(lost | mask)


def infinities_met(left: Numbers, right: Numbers) -> tuple[Mask, Mask]:
    """Where a product of an infinity may be NaN as well, for a factor of zero, and where of either sign."""
    perhaps: Mask = np.zeros((), dtype=np.bool_)
    either = perhaps
    for number, infinity in ((left, right), (right, left)):
        if number.error.any() and np.isinf(infinity.sign).any():
            met = np.isinf(infinity.sign)
            perhaps = perhaps | (met & number.may_be_zero())
            either = either | (met & number.may_change_sign())
    return perhaps, either


def settled(
    working: Working, value: Rationals, error: Floats, special: Floats, zero: Floats, lost: Mask
) -> Numbers:
    """Numbers of a value, with NaN and infinities from `special` and the signs of zeros from `zero`."""
    shape = joint_shape(joint_shape(value.shape, error.shape), special.shape)
    finite = np.isfinite(_spread(special, shape))
    sign = value.signs()
    sign = np.where(sign == 0, _spread(zero, shape), sign)
    sign = np.where(finite, sign, special)
    value = value.where(finite, Rationals.of(0)) if not finite.all() else value
    error = np.where(finite, error, 0.0)
    return Numbers(working, value, error, sign, _spread(lost, shape))


def _spread(array: NDArray[Any] | bool, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array in a shape that its own broadcasts to; numpy's function is slow where it has nothing to do."""
    if isinstance(array, np.ndarray) and array.shape == shape:
        return array
    return np.broadcast_to(array, shape)


def _is_zero_value(numbers: Numbers) -> Mask:
    return np.asarray(numbers.value.signs() == 0, dtype=np.bool_)


def _is_zero(numbers: Numbers) -> Mask:
    """Where a program holds zero, whatever its sign."""
    return np.asarray(_is_zero_value(numbers) & numbers.finite & (numbers.error == 0))
