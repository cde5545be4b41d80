"""Square roots of fractions, exact or as near as no rounding can tell."""

from __future__ import annotations

import math
from fractions import Fraction

_BITS_OF_ROOTS = 160


def root(value: Fraction) -> tuple[Fraction, bool]:
    """The square root, and whether it lies beside the number that is given, by less than 2^-160 of it."""
    numerator, denominator = value.numerator, value.denominator
    top, bottom = math.isqrt(numerator), math.isqrt(denominator)
    if top * top == numerator and bottom * bottom == denominator:
        return Fraction(top, bottom), False
    shift = max(0, 2 * _BITS_OF_ROOTS - numerator.bit_length() - denominator.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt(numerator * denominator << shift), denominator << (shift // 2)), True
