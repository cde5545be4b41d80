"""Where sums come out exactly in any order: of which power of two numbers are multiples."""

from __future__ import annotations

import math

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
    digits = np.minimum(values.last_digits(), 1023.0)
    return np.where(values.signs() == 0, np.inf, np.ldexp(1.0, digits.astype(np.int64)))
