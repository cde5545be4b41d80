"""Formulas that several operators share, written so that nothing on the way overflows."""

from __future__ import annotations

from reference.choices import Choice
from reference.functions import function_of
from reference.number_arrays import Numbers
from reference.working import Mask


def logistic(numbers: Numbers) -> Numbers:
    """1 / (1 + exp(-x)), by the exponential of -|x|, which does not overflow."""
    power = function_of("exp", -abs(numbers))
    return (numbers.lift(1) / (power + 1)).where(numbers.sign > 0, power / (power + 1))


def in_the_limit(found: Numbers, infinite: Mask, limit: Numbers, option: Choice[str]) -> Numbers:
    """What a formula gives, or its limit where it multiplies an infinity with zero, which is asked there."""
    if infinite.any() and option.ask() == "limit":
        return found.where(~infinite, limit)
    return found
