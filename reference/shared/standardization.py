"""What normalizations share: means, differences from them, variances, and stages in other types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Annotated, Literal

import numpy as np
from flint import arb

from opcert.vocabulary.element_types import BY_CODE, ElementType
from reference.answers.number_answers import answer_of
from reference.functions.stable_formulas import whichever
from reference.numbers.accumulations import WHOLE
from reference.numbers.enclosures import nearest_value
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import MARGIN, Working, rounded_up
from reference.readings.choices import AsReading, Choice
from reference.sums.summation import mean_of, total, total_of_products

Variance = Annotated[Choice[Literal["text", "body"]], AsReading]


@dataclass(frozen=True, eq=False)
class Standardized:
    """Of rows along the last axis: their means, the differences from these, and the variances."""

    mean: Numbers
    apart: Numbers
    variance: Numbers

    @classmethod
    def of(cls, rows: Numbers, body_arithmetic: Choice[Literal["text", "body"]]) -> Standardized:
        """Two passes over rows; where it is read so, the mean of squares less the square of the mean.

        Where the mean is no greater than two deviations that costs two bits at most: either is honest there.
        """
        count = rows.shape[-1]
        summed = mean_of(total(rows, -1, keepdims=True), count)
        mean = _mean_by_steps(rows, summed)
        apart = rows - mean
        variance = mean_of(total_of_products(apart, apart, -1, keepdims=True), count)
        with np.errstate(over="ignore"):
            offset = mean.value.floats() * mean.value.floats()
        far = mean.finite & (offset > 4 * variance.value.floats())
        if count == 1 and (offset * (1 + MARGIN) < rows.working.greatest).all():
            return cls(mean, apart, variance)
        if not far.all() or body_arithmetic.ask() == "body":
            squares = mean_of(total_of_products(rows, rows, -1, keepdims=True), count)
            either = whichever(variance, lambda: squares - summed * summed)
            if far.any() and body_arithmetic.ask() == "text":
                either = either.where(~far, variance)
            variance = either
        return cls(mean, apart, variance)

    def deviation(self, epsilon: Fraction) -> Numbers:
        """The roots of the variances, with something added so that they are not zero."""
        return (self.variance + epsilon).sqrt()


def _mean_by_steps(rows: Numbers, mean: Numbers) -> Numbers:
    """A mean as it is, or as one that each element corrects by its share (Welford): 0 where all are equal.

    Of n elements with a sum of magnitudes S that errs by u S (1 + 3 (2 + ln n) / n) at most; a quotient by
    unsafe math has five roundings more.
    """
    count, working = rows.shape[-1], rows.working
    sizes = WHOLE.floats(rows.magnitude)
    each = 8 if working.is_relaxed else 3
    charge = working.unit * sizes * (1 + each * (2 + _logarithm(max(count, 1))) / max(count, 1))
    first = rows.value.floats()[..., :1]
    alike = (rows.value.floats() == first).all(axis=-1, keepdims=True)
    error = np.where(alike | ~mean.finite, mean.error, np.maximum(mean.error, rounded_up(charge)))
    return replace(mean, error=error)


@cache
def _logarithm(count: int) -> float:
    """The natural logarithm of a count, the same on every machine."""
    return float(nearest_value(arb.log, Fraction(count), 64)) if count > 1 else 0.0


def affine(x: Numbers, mean: Numbers, deviation: Numbers, scale: Numbers, bias: Numbers) -> Numbers:
    """(x - mean) / deviation * scale + bias, or a slope for each mean times x and what is left beside it."""
    written = (x - mean) / deviation * scale + bias
    return _beside_folded(written, x, mean, deviation, scale, bias)


def _beside_folded(
    written: Numbers, x: Numbers, mean: Numbers, deviation: Numbers, scale: Numbers, bias: Numbers
) -> Numbers:
    """The formula as it is written, and what programs come to that multiply with a slope."""
    slope = scale / deviation
    # What the slope is off by is the same in both products: the difference from the mean is multiplied by it.
    exact = replace(slope, error=np.zeros(slope.shape))
    folded = x * exact + (bias - mean * exact)
    # What is left beside it may be of a quotient of its own, whose rounding is then that of no other.
    divisor = replace(deviation, error=np.zeros(deviation.shape))
    quotient = scale / divisor
    unshared = x * quotient + (bias - mean * scale / divisor)
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs((x.value - mean.value).floats())
        of_deviation = away * (slope.error - quotient.error)
        error = np.maximum(folded.error + away * slope.error, unshared.error + of_deviation)
    folded = replace(folded, error=rounded_up(error))
    apart = ~written.finite & ~folded.finite & (np.isnan(written.sign) != np.isnan(folded.sign))
    found = whichever(written, lambda: folded)
    # The scale may be multiplied first, which may overflow where the quotient does not.
    with np.errstate(over="ignore"):
        first = np.maximum((x - mean).magnitude, mean.magnitude) * scale.magnitude
    found = replace(found, lost=found.lost | (first >= x.working.greatest * (1 - MARGIN)))
    return opened(found, apart) if apart.any() else found


def overflowed(
    found: Numbers,
    deviation: Numbers,
    overflow: Choice[Literal["exact", "as_formula"]],
    nothing: Numbers | int = 0,
) -> Numbers:
    """Quotients as they are; anything where what they are divided by may be zero or not.

    Where the squares below the root may be beyond all numbers it is a reading what comes out. By the formula
    that is what is divided by infinity (`nothing`, to which more may have been added), an infinity or NaN, or
    the result where a program has the range for it.
    """
    doubtful = deviation.finite & (deviation.value.signs() == 0) & (deviation.error > 0)
    found = opened(found, doubtful) if doubtful.any() else found
    # What may be below zero or above it is lost as well, and no overflow.
    certain = deviation.error < deviation.value.floats()
    beyond = np.asarray(deviation.lost & deviation.finite & certain)
    if not beyond.any():
        return found
    if overflow.ask() == "as_formula":
        return found.or_else(nothing, beyond)
    return replace(found, lost=found.lost & ~beyond)


def cast(given: Numbers, kind: ElementType) -> Numbers:
    """Numbers without error, rounded to another type and computed with there."""
    if kind == given.working.element_type:
        return given
    rounded = answer_of(given, Choice("wrap"), kind).expected
    return Numbers.of(rounded, replace(given.working, element_type=kind))


def cast_back(numbers: Numbers, working: Working) -> Numbers:
    """Results of one stage in the arithmetic of the next: they may be rounded to its type in between."""
    if numbers.working.element_type == working.element_type:
        return numbers
    narrow = replace(numbers, working=replace(working, accumulation=Choice("input")))
    found = narrow.rounded(1, exact=numbers.error == 0, least=1)
    return replace(found, working=working)


def stashed(stash_type: int) -> ElementType:
    """The type that a first stage is computed in, by its number."""
    return BY_CODE[stash_type]
