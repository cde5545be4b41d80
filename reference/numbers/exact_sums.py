"""Where sums come out exactly in any order: of which power of two numbers are multiples."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.numbers import smallest_subnormal
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask

GREATEST_POWER = math.ldexp(1.0, 1023)
"""The greatest power of two in float64."""


def sums_exactly(values: Rationals, most: Floats, axis: int, layout: FloatLayout) -> Mask:
    """Where every partial sum along an axis, in any order, is representable (the axis kept with length 1).

    So it is where all terms are multiples of one power of two and the sum of their magnitudes (`most` at
    most) stays below as many multiples of it as the significand can count.
    """
    low = np.min(np.broadcast_to(quanta(values), values.shape), axis=axis, keepdims=True, initial=np.inf)
    low = np.maximum(low, 0.0)
    with np.errstate(over="ignore"):
        fits = most <= np.ldexp(low, layout.precision)
    return np.asarray(fits & (low >= float(smallest_subnormal(layout))) & np.isfinite(most))


def quanta(values: Rationals) -> Floats:
    """The greatest power of two that each number is a multiple of: infinity for 0, 0 where there is none."""
    if values.power is None:
        return values.each(_quantum, np.float64)
    if values.small is not None:
        low = values.small & -values.small
        found = np.ldexp(low.astype(np.float64), -values.power)
        return np.where(low == 0, np.inf, np.minimum(found, GREATEST_POWER))
    powers = Rationals(np.asarray(values.numerator & -values.numerator, dtype=object), values.denominator)
    return np.where(powers.signs() == 0, np.inf, np.minimum(powers.floats(), GREATEST_POWER))


@lru_cache(maxsize=1 << 16)
def _quantum(numerator: int, denominator: int) -> float:
    if numerator == 0:
        return float("inf")
    if denominator & (denominator - 1) == 0:
        power = (numerator & -numerator).bit_length() - denominator.bit_length()
        return math.ldexp(1.0, min(power, 1023)) if power >= -1074 else 0.0
    value = Fraction(numerator, denominator)
    if value.denominator & (value.denominator - 1):
        return 0.0
    numerator = abs(value.numerator)
    power = (numerator & -numerator).bit_length() - value.denominator.bit_length()
    return math.ldexp(1.0, min(power, 1023)) if power >= -1074 else 0.0
