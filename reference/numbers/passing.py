"""Numbers that pass to another operation or precision: what may come of them where no text settles it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask, Working, rounded_up

_DOUBLE = math.ldexp(1.0, -53)


def passed_on(numbers: Numbers, greatest: Floats, count: int) -> Numbers:
    """The sum of `count` integers as another operation may get it; of floats as it is.

    Of what lies beyond the type no text says anything: it may be any number. Within it the sum may have been
    added up in double precision, which is exact as far as it has the digits, and may so come to lie beyond.
    `greatest` is the greatest magnitude among the integers of each sum.
    """
    if not numbers.is_integer:
        return numbers
    low, high = numbers.working.element_type.integer_range
    sizes = rounded_up(count * np.broadcast_to(greatest, numbers.shape))
    # Each integer, its factors, each addition and what is done with the sum is rounded once.
    roundings = np.ceil(rounded_up(2 * (count + 1) * _DOUBLE * sizes))
    error = np.where(sizes * _DOUBLE <= 1, 0.0, roundings)
    apart = Rationals.of(error.astype(object))
    inside = (Rationals.of(low) + apart).at_most(numbers.value) & (numbers.value + apart).at_most(
        Rationals.of(high)
    )
    return replace(numbers, error=np.where(inside, error, np.inf))


def held(numbers: Numbers, working: Working) -> Numbers:
    """Numbers as a program holds them that converts them to its precision first."""
    moved = replace(numbers, working=working)
    return moved if numbers.error.any() else moved.rounded(1, exact=True)


def opened(numbers: Numbers, doubtful: Mask) -> Numbers:
    """The same numbers, and anything in place of doubtful ones."""
    mask = np.broadcast_to(doubtful, numbers.shape)
    error, sign = np.where(mask, np.inf, numbers.error), np.where(mask, 1.0, numbers.sign)
    return replace(numbers, error=error, sign=sign, lost=numbers.lost | mask)


def root(numbers: Numbers) -> Numbers:
    """The square root; of integers that of double precision, since they have none of their own."""
    found = abs(numbers).sqrt()
    if not numbers.is_integer:
        return found
    size = found.value.floats()
    inexact = found.value.each(lambda top, bottom: Fraction(top, bottom).denominator > 1, np.bool_)
    return replace(found, error=rounded_up(found.error + np.where(inexact, 2 * _DOUBLE * size, 0.0)))
