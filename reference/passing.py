"""Numbers that pass to another operation in a way that no text settles: anything may come of them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference.number_arrays import Numbers
from reference.rationals import Rationals
from reference.working import Mask, rounded_up

_DOUBLE = math.ldexp(1.0, -53)


def passed_on(numbers: Numbers, count: int) -> Numbers:
    """The sum of `count` integers as another operation may get it; of floats as it is.

    Of what lies beyond the type no text says anything: it may be any number. Within it the sum may have been
    added up in double precision, which is exact as far as it has the digits, and may so come to lie beyond.
    """
    if not numbers.is_integer:
        return numbers
    low, high = numbers.working.element_type.integer_range
    digits = 2 * count * _DOUBLE * max(abs(low), high)
    apart = 0 if digits < 1 else math.ceil(digits)
    inside = Rationals.of(low + apart).at_most(numbers.value) & numbers.value.at_most(
        Rationals.of(high - apart)
    )
    error = np.where(inside, float(apart), np.inf)
    return replace(numbers, error=error)


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
