"""Values of elementary functions, each rounded to so many bits, whatever computes them.

An enclosure is computed with some bits more than are asked for, and with more again until both its ends
round to one number: that number hangs neither on the library, nor on its version, nor on the processor.
Arguments whose values are rational (`exp(0)`) are the caller's to exclude: no enclosure need tell there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ldexp

from flint import arb, ctx, fmpq

from opcert.vocabulary.errors import InternalError
from reference.numbers.binary_numbers import BinaryNumber

Ball = arb
"""A number and how far from it the true one may lie, both exact: arithmetic of them is rigorous."""

_GUARD = 64
_MOST_BITS = 1 << 15


def nearest_value(function: Callable[[Ball], Ball], argument: Fraction, bits: int) -> Fraction:
    """The number of so many significant bits that is nearest to the function's value.

    Raises InternalError where no precision tells it from its neighbour.
    """
    return nearest_binary(function, argument.numerator, argument.denominator, bits).fraction()


@lru_cache(maxsize=1 << 16)
def nearest_binary(
    function: Callable[[Ball], Ball], numerator: int, denominator: int, bits: int
) -> BinaryNumber:
    """The same as an integer times a power of two, of an argument that may be not in lowest terms.

    Raises InternalError where no precision tells the number from its neighbour.
    """
    before, precision = ctx.prec, bits + _GUARD
    try:
        while precision <= _MOST_BITS:
            ctx.prec = precision
            found = _rounded(function(arb(fmpq(numerator, denominator))), bits)
            if found is not None:
                return found
            precision *= 2
    finally:
        ctx.prec = before
    raise InternalError(
        "the value of a function is too near to a point between two numbers",
        got=f"the argument {Fraction(numerator, denominator)}",
        expected=f"an enclosure of {_MOST_BITS} bits that tells on which side it lies",
    )


_NARROW = 192
"""Bits of what is subtracted where the difference is wanted as a float64 alone."""
_LEAST_APART, _MOST_APART = ldexp(1.0, -1000), ldexp(1.0, 1000)


def apart(
    function: Callable[[Ball], Ball],
    numerator: int,
    denominator: int,
    off: float,
    value: BinaryNumber,
    bits: int,
) -> float | None:
    """How far the function's value beside an argument is from a value, as a float64.

    The same as of the numbers of so many bits; None where the narrower enclosure does not tell it.
    """
    before, ctx.prec = ctx.prec, _NARROW
    try:
        there = function(arb(fmpq(numerator, denominator)) + arb(off))
        # By so much the number of so many bits that is nearest may differ from it.
        found = abs(there * arb(1, ldexp(1.0, -bits)) - arb((value.whole, value.power)))
        low, high = float(found.lower()), float(found.upper())
    finally:
        ctx.prec = before
    return low if low == high and _LEAST_APART < low < _MOST_APART else None


def _rounded(ball: Ball, bits: int) -> BinaryNumber | None:
    """The number that both ends of a ball round to; None where there are two, or no end."""
    if not ball.is_finite():
        return None
    (middle, above), (radius, beside) = ball.mid().man_exp(), ball.rad().man_exp()
    power = min(int(above), int(beside))
    whole, reach = int(middle) << (int(above) - power), int(radius) << (int(beside) - power)
    low, high = _round(whole - reach, bits), _round(whole + reach, bits)
    if low != high or not low:
        return None
    zeros = (low & -low).bit_length() - 1
    return BinaryNumber(low >> zeros, power + zeros)


def _round(whole: int, bits: int) -> int:
    """The nearest integer with zeros behind so many bits; of two the one whose last bit is even."""
    dropped = whole.bit_length() - bits
    if dropped <= 0:
        return whole
    # One less than half where the last bit that is kept is even, so that a tie stays.
    half = (1 << (dropped - 1)) - 1 + (whole >> dropped & 1)
    return (whole + half) >> dropped << dropped
