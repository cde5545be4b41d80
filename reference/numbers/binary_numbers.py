"""Integers times powers of two: how values of functions are held, of which no fraction need be reduced."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class BinaryNumber(NamedTuple):
    """An integer times a power of two."""

    whole: int
    power: int

    def fraction(self) -> Fraction:
        """The number itself."""
        if self.power >= 0:
            return Fraction(self.whole << self.power)
        return Fraction(self.whole, 1 << -self.power)

    def exceeds(self, most: Fraction) -> bool:
        """Whether the absolute value is greater than a number; what is far greater is told by its size."""
        return (
            self.size() >= (most.numerator // most.denominator).bit_length() and abs(self.fraction()) > most
        )

    def size(self) -> int:
        """The least power of two that is greater than the absolute value; of 0 the power itself."""
        return self.whole.bit_length() + self.power


def farther(value: BinaryNumber, low: BinaryNumber, high: BinaryNumber) -> float | None:
    """How far the value is from the farther of two numbers around it, in float64.

    None where they are not around it, or float64 has no number so great.
    """
    least = min(value.power, low.power, high.power)
    middle, below, above = (each.whole << (each.power - least) for each in (value, low, high))
    if not below <= middle <= above:
        return None
    reach = max(middle - below, above - middle)
    try:
        return float(reach << least) if least >= 0 else reach / (1 << -least)
    except OverflowError:
        return None
