"""The element type that holds powers of two alone, float8e8m0: no sign, no significand and no zero."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ElementType

NAN = 0xFF
_BIAS = 127


def holds_powers_alone(element_type: ElementType) -> bool:
    return element_type.is_float and element_type.layout is None


def decode_exponents(bits: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The exponent of each pattern, and which of them are numbers."""
    return bits.astype(np.int64) - _BIAS, bits != NAN


def encode_power(value: Fraction | float) -> int:
    """The pattern of the nearest power of two, the greater of two that are as near.

    NaN for what is not positive, and for what lies beyond the greatest one.
    """
    if not math.isfinite(value) or value <= 0:
        return NAN
    exact = Fraction(value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact < Fraction(2) ** exponent:
        exponent -= 1
    if 2 * exact >= 3 * Fraction(2) ** exponent:
        exponent += 1
    return min(max(exponent + _BIAS, 0), NAN)
