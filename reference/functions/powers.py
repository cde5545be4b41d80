"""Numbers to the power of numbers: their values, what programs may be off by, and what is no number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import Literal

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BINARY64
from reference.functions.functions import (
    DOUBLE_BITS,
    FUNCTIONS,
    RELAXED,
    USUAL_BITS,
    in_units_of,
    or_relaxed,
)
from reference.numbers.binary_numbers import BinaryNumber, farther
from reference.numbers.enclosures import Ball, nearest_binary
from reference.numbers.exact_roots import root
from reference.numbers.noted_functions import VALUE, note_function, note_steps
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import SLACK, Floats, Working, power_below, rounded_up
from reference.readings.choices import Choice

ULPS, NARROW_ULPS = 16.0, 4.0
"""Units in the last place of float64 and float32, and of float16, by the table that
`reference/functions/functions.py` cites."""
_RELAXED_ULPS = 8192.0
"""Of float32, by the table of unsafe math that is cited there, for implementations that are not derived."""
SpecialPowers = Choice[Literal["pow", "exp_of_log"]]
_DIGITS_OF_DOUBLES = 1 << BINARY64.precision
_FAR = 4096
"""Powers of two beyond those of all numbers of all types."""
_GREAT = 1000
_LOG_OF_TWO = 0.6931472
"""Above the natural logarithm of two."""
_LEAST_DOUBLE = math.ldexp(1.0, -1074)
_MOST_OF_NEGATIVE = 1 << 24
_SMALL, _TINY = math.ldexp(1.0, -8), math.ldexp(1.0, -900)


def power_ulps(working: Working, full: float) -> Floats | float:
    """The units in the last place that a power may be off by, in place of those of the `full` column."""
    return or_relaxed(working, full, _RELAXED_ULPS)


def power_of(base: Numbers, exponent: Numbers, special_powers: SpecialPowers) -> Numbers:
    """Each base to the power of its exponent: within its allowance, NaN where no real number is the power.

    What IEEE 754's pow makes a number of, and its logarithm times the exponent does not, is asked for.
    """
    working, shape = base.working, np.broadcast_shapes(base.shape, exponent.shape)
    note_function("pow")
    note_steps(VALUE * prod(shape))
    base, exponent = base.as_operand().broadcast(shape), exponent.as_operand().broadcast(shape)
    bits = DOUBLE_BITS if working.layout == BINARY64 else USUAL_BITS
    most = working.beyond
    found: list[BinaryNumber] = []
    special, error, lost = list[float](), list[float](), list[bool]()
    columns = (
        column
        for each in (base, exponent)
        for column in (each.value.fractions(), each.sign.flat, each.error.flat)
    )
    for x, sign, off, y, power_sign, power_off in zip(*columns, strict=True):
        signs, offs = (float(sign), float(power_sign)), (float(off), float(power_off))
        outcome: BinaryNumber | float
        if x and y and all(map(math.isfinite, signs)):
            outcome = _value(x, y, bits)
        else:
            outcome, is_disputed = _special(x, y, *signs)
            if is_disputed and special_powers.ask() == "exp_of_log":
                # Of a negative zero the logarithm is that of zero; elsewhere infinity meets zero, or a NaN.
                outcome = math.inf if signs[0] == 0 and y < 0 else math.nan
        if isinstance(outcome, BinaryNumber) and outcome.exceeds(most):
            outcome = math.inf if outcome.whole > 0 else -math.inf
        reach = _reach(x, y, offs, outcome, bits) if any(offs) else 0.0
        error.append(math.inf if reach is None else reach)
        lost.append(reach is None)
        special.append(0.0 if isinstance(outcome, BinaryNumber) else outcome)
        found.append(outcome if isinstance(outcome, BinaryNumber) else BinaryNumber(0, 0))
    value = Rationals.of_binary(found, shape)
    bound, outside = (np.array(each, dtype=np.float64).reshape(shape) for each in (error, special))
    gone = base.lost | exponent.lost | np.array(lost, dtype=np.bool_).reshape(shape)
    result = settled(working, value, rounded_up(bound), outside, outside, gone)
    exact = (result.value.signs() == 0) & (result.error == 0)
    working.note_chain(result.finite & ~exact)
    ulps = power_ulps(working, in_units_of(working, ULPS, NARROW_ULPS))
    exact = exact & (not working.is_relaxed)
    result = result.rounded(1, exact=exact, least=np.ceil(ulps), ulps=ulps)
    result = _beside_derived(result, base, exponent) if working.is_relaxed else result
    doubtful = result.lost & ~np.isfinite(result.sign)
    return opened(result, doubtful) if doubtful.any() else result


def _beside_derived(found: Numbers, base: Numbers, exponent: Numbers) -> Numbers:
    """Powers with the errors of exp2(y log2|x|), and open where the table of unsafe math has them undefined.

    The logarithm and the product move the argument of exp2 by at most e, and the power by 2^e - 1 of itself;
    that argument is no farther from 0 than the power's own exponent tells. Of zero the power may be zero.
    """
    working, size, y = found.working, np.abs(found.value.floats()), exponent.magnitude
    ulps, absolute = RELAXED["log"].allowed(abs(base), FUNCTIONS["log"].allowance(working))
    bits, argument = (np.abs(np.frexp(each)[1]) + 1.0 for each in (np.abs(base.value.floats()), size))
    with np.errstate(over="ignore", invalid="ignore"):
        moved = y * (2 * ulps * working.unit * power_below(bits) + absolute) * (1 + SLACK)
        moved = moved + working.unit * power_below(argument)
        grown = np.where(moved <= 1, moved * (1 + moved) * _LOG_OF_TWO, np.ldexp(1.0, _whole_bits(moved)))
        units = or_relaxed(working, 0.0, 3 + np.floor(2 * (argument + moved)))
        share = grown + 2 * units * working.unit * (1 + grown)
        error = np.where(np.isfinite(share), share * np.maximum(size, _LEAST_DOUBLE), np.inf)
    x, signs, powers = base.value.signs(), base.sign, exponent.value
    given = found.finite & base.finite & exponent.finite & (x != 0)
    found = replace(found, error=np.where(given, np.maximum(found.error, rounded_up(error)), found.error))
    overflown = np.isinf(found.sign) & base.finite & exponent.finite & (x != 0) & (moved > _SMALL)
    no_integer = powers.each(lambda top, bottom: top % bottom != 0, np.bool_) | (y > _MOST_OF_NEGATIVE)
    undefined = (x < 0) & no_integer | (x == 0) & (powers.signs() == 0)
    open_to_all = overflown | undefined & base.finite & exponent.finite
    found = found.or_also(0, (signs == 0) & exponent.finite & (powers.signs() != 0))
    return opened(found, open_to_all) if open_to_all.any() else found


def _whole_bits(moved: Floats) -> NDArray[np.int64]:
    """So many doublings or more, as far as doubles hold them."""
    return np.ceil(np.fmin(moved, _FAR)).astype(np.int64)


def whole_powers(base: Numbers, exponent: Numbers, *, by_float: bool) -> Numbers:
    """Integers to the power of whole numbers that are not negative.

    Beyond the type programs that multiply wrap around, and those that convert from double precision stay at
    an end or, as processors do, make the least integer of everything. No text says that the power is not one
    of doubles where the exponent is a float: there it errs as that does.
    """
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    pairs = zip(*(each.broadcast(shape).value.fractions() for each in (base, exponent)), strict=True)
    low, high = base.working.element_type.integer_range
    powers, errors = list[int](), list[float]()
    for x, y in pairs:
        powers.append(_whole_power(int(x), int(y), high - low + 1))
        errors.append(_off_in_double(powers[-1]) if by_float and low <= powers[-1] <= high else 0.0)
    found = Numbers.exact(np.array(powers, dtype=object).reshape(shape), base.working)
    error = np.array(errors).reshape(shape)
    beyond = [
        not low <= each - off <= each + off <= high
        for each, off in zip(powers, map(int, errors), strict=True)
    ]
    return replace(found, error=error).or_also(low, np.array(beyond, dtype=np.bool_).reshape(shape))


def _whole_power(x: int, y: int, span: int) -> int:
    """The power; beyond every type a number of its sign that wraps around to the same."""
    # No integer but 0, 1 and -1 has a power in any type beyond the 64th.
    if abs(x) <= 1 or y <= 64:
        return int(Fraction(x) ** y)
    rest = pow(x, y, span)  # exact: integers
    return rest + (-2 if x < 0 and y % 2 else 1) * span


def _off_in_double(power: int) -> float:
    """How far off a power of doubles is that they have not the digits of: its base is rounded as well."""
    most = abs(power) * (2 * ULPS + 1) / _DIGITS_OF_DOUBLES
    return float(math.ceil(most)) if abs(power) > _DIGITS_OF_DOUBLES else 0.0


def _special(x: Fraction, y: Fraction, base: float, exponent: float) -> tuple[BinaryNumber | float, bool]:
    """What comes of zero, infinities and NaN, and whether `exp(y log(x))` has another answer.

    `base` and `exponent` are signs, as Numbers have them.
    """
    if exponent == 0:
        return BinaryNumber(1, 0), base == 0 or not math.isfinite(base)
    if math.isnan(base) or math.isnan(exponent):
        is_one = x == 1 and not math.isnan(base)
        return (BinaryNumber(1, 0), True) if is_one else (math.nan, False)
    if math.isinf(exponent):
        size = math.inf if math.isinf(base) else abs(x)
        if size == 1:
            return BinaryNumber(1, 0), True
        return (math.inf if (size > 1) == (exponent > 0) else 0.0), base < 0
    is_odd = y.denominator == 1 and y.numerator % 2 == 1
    sign = -1.0 if math.copysign(1.0, base) < 0 and is_odd else 1.0
    if base == 0:
        return (math.copysign(0.0, sign), False) if y > 0 else (sign * math.inf, sign < 0)
    return (sign * math.inf if y > 0 else math.copysign(0.0, sign)), base < 0


@lru_cache(maxsize=1 << 16)
def _value(x: Fraction, y: Fraction, bits: int) -> BinaryNumber | float:
    """The power of numbers that are not zero; NaN where it is not real."""
    if x < 0 and y.denominator != 1:
        return math.nan
    sign, size = (-1 if x < 0 and y.numerator % 2 else 1), abs(x)
    while y.denominator > 1 and y.denominator % 2 == 0:
        # An exact root is what no enclosure need tell from its neighbours; what is left is irrational.
        square, inexact = root(size)
        if inexact:
            break
        size, y = square, y * 2
    if size == 1:
        return BinaryNumber(sign, 0)
    most = 1 + abs(size.numerator.bit_length() - size.denominator.bit_length())
    scale = 0.0 if abs(y) * most <= _FAR else _scale(size, y)
    if abs(scale) > _FAR:
        return BinaryNumber(sign, _FAR if scale > 0 else -_FAR)
    found = nearest_binary(_raised_to(y), size.numerator, size.denominator, bits)
    return BinaryNumber(sign * found.whole, found.power)


@lru_cache(maxsize=1 << 12)
def _raised_to(y: Fraction) -> Callable[[Ball], Ball]:
    """The power as a function of its base; always the same one, by which values are kept."""
    exponent = fmpq(y.numerator, y.denominator)
    return lambda ball: ball ** arb(exponent)  # exact: an enclosure


def _scale(size: Fraction, y: Fraction) -> float:
    """About the logarithm of a power to base two; an infinity where it is beyond all numbers."""
    before = ctx.prec
    try:
        ctx.prec = 1 << 12
        found = arb(fmpq(size.numerator, size.denominator)).log_base(2) * arb(
            fmpq(y.numerator, y.denominator)
        )
        if abs(found) > 2 * _FAR:
            return math.inf if found > 0 else -math.inf
        return float(found.mid())
    finally:
        ctx.prec = before


def _reach(
    x: Fraction, y: Fraction, offs: tuple[float, float], value: BinaryNumber | float, bits: int
) -> float | None:
    """How far the power may be off where base and exponent are; None for any distance."""
    if not isinstance(value, BinaryNumber) or any(map(math.isinf, offs)):
        return None
    if not offs[1] and (near := _near(x, y, offs[0], value)) is not None:
        return near
    apart, beside = (Fraction(each) for each in offs)
    if abs(x) < apart or (x < 0 and beside) or x == 0:
        return None
    corners = [value]
    for base, exponent in product({x - apart, x + apart}, {y - beside, y + beside}):
        if base and exponent:
            corner, is_disputed = _value(base, exponent, bits), False
        else:
            corner, is_disputed = _special(base, exponent, float(base), float(exponent))
        if corner == 0.0:
            corner = BinaryNumber(0, 0)
        if is_disputed or not isinstance(corner, BinaryNumber):
            return None
        corners.append(corner)
    ordered = sorted(corners, key=BinaryNumber.fraction)
    return farther(value, ordered[0], ordered[-1])


def _near(x: Fraction, y: Fraction, off: float, value: BinaryNumber) -> float | None:
    """How far the power may be off where the base is by a small share of it; None where it may be more.

    Of a share r it is off by (1 - r)^-|y| - 1 at most, which is below s + s^2 with s = |y| r / (1 - r).
    """
    if value.size() > _GREAT:
        return None
    cut = max(0, value.whole.bit_length() - BINARY64.precision)
    size, power = float(abs(x)), math.ldexp((abs(value.whole) >> cut) + 1, value.power + cut)
    share = off / size if size else 1.0
    steps = abs(float(y)) * share / (1 - share) if share < _SMALL else 1.0
    reach = power * (steps + steps * steps)
    return reach * (1 + SLACK) if steps < _SMALL and reach > _TINY else None
