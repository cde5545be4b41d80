"""Numbers compared with each other: the greater of two, relations, and whole numbers beside them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.rounding import round_ratio
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.rationals import Rationals
from reference.numbers.working import Mask, rounded_up
from reference.readings.choices import AsReading, Choice

Relation = Literal["less", "less_or_equal", "equal", "greater", "greater_or_equal"]
NanInMaxMin = Literal["propagates", "ignored", "first_operand", "second_operand"]
NanReading = Annotated[Choice[NanInMaxMin], AsReading]
NanComparison = Annotated[Choice[Literal["fails", "holds"]], AsReading]
Conversion = Literal["truncate", "floor", "ceil", "half_even", "half_away", "half_up"]


def compare(
    left: Numbers, right: Numbers, relation: Relation, nan: Choice[Literal["fails", "holds"]] | None = None
) -> Answer:
    """Whether elements stand in a relation; either answer where flushing leaves it open.

    NaN equals nothing; whether it stands in another relation is asked where there is one.
    """
    less, more = below(left, right), below(right, left)
    nans = np.isnan(left.sign) | np.isnan(right.sign)
    equal = ~nans & ~less & ~more
    found = {
        "less": less,
        "less_or_equal": less | equal,
        "equal": equal,
        "greater": more,
        "greater_or_equal": more | equal,
    }[relation]
    if nan is not None and nans.any() and nan.ask() == "holds":
        found = found | nans
    apart = np.abs((left.value - right.value).floats())
    doubtful = left.finite & right.finite & (left.error + right.error > 0)
    doubtful = doubtful & (apart <= rounded_up(left.error + right.error))
    return truths(found, doubtful)


def below(left: Numbers, right: Numbers | Fraction | int) -> Mask:
    """Where one is less than another; NaN is not."""
    right = left.lift(right)
    finite = left.finite & right.finite
    return np.asarray(finite & ~right.value.at_most(left.value) | _below_by_sign(left, right))


def above(numbers: Numbers, bound: Fraction | int, nan: Choice[Literal["fails", "holds"]]) -> Mask:
    """Where numbers are greater than a bound; whether NaN is, is asked where there is one."""
    found, nans = below(numbers.lift(bound), numbers), np.isnan(numbers.sign)
    return found | nans if nans.any() and nan.ask() == "holds" else found


def truths(found: Mask, doubtful: Mask) -> Answer:
    """Booleans; where they are doubtful the other is as good."""
    others = {index: (not found.flat[index],) for index in np.flatnonzero(doubtful).tolist()}
    return Answer(Tensor(ELEMENT_TYPES["bool"], np.asarray(found, dtype=np.bool_)), None, others or None)


def _below_by_sign(left: Numbers, right: Numbers) -> Mask:
    """Where one is below the other because an infinity is among them."""
    either = np.isinf(left.sign) | np.isinf(right.sign)
    return np.asarray(either & (left.sign < right.sign))


def greater_of(left: Numbers, right: Numbers, nan: Choice[NanInMaxMin]) -> Numbers:
    """The greater of two numbers by element; what becomes of NaN is asked where there is one."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    left, right = left.broadcast(shape), right.broadcast(shape)
    with np.errstate(invalid="ignore"):
        infinite = np.isinf(left.sign) | np.isinf(right.sign)
        first = np.where(infinite, left.sign >= right.sign, right.value.at_most(left.value))
    nans = np.isnan(left.sign) | np.isnan(right.sign)
    if nans.any():
        option = nan.ask()
        taken = np.isnan(left.sign) == (option == "propagates")
        taken = {"first_operand": True, "second_operand": False}.get(option, taken)
        first = np.where(nans, taken, first)
    chosen = left.where(first, right)
    # Where errors leave the order open the greater one is still within the greater error of the greater.
    error = np.where(nans | infinite, chosen.error, np.maximum(left.error, right.error))
    return Numbers(chosen.working, chosen.value, error, chosen.sign, left.lost | right.lost)


def lesser_of(left: Numbers, right: Numbers, nan: Choice[NanInMaxMin]) -> Numbers:
    """The lesser of two numbers by element; what becomes of NaN is asked where there is one."""
    return -greater_of(-left, -right, nan)


def whole(numbers: Numbers, conversion: Conversion) -> Numbers:
    """The whole numbers beside them; exact, and any between where flushing leaves it open."""

    converted = numbers.value.each(lambda top, bottom: round_ratio(top, bottom, conversion), object)
    value = Rationals(converted, np.array(1, dtype=object))
    apart = np.zeros(numbers.shape)
    open_ones = np.flatnonzero(numbers.error)
    if open_ones.size:
        exact = numbers.value.spread(numbers.shape)
        tops = exact.numerator.reshape(-1)[open_ones].tolist()
        bottoms = np.broadcast_to(exact.denominator, numbers.shape).reshape(-1)[open_ones].tolist()
        errors = numbers.error.reshape(-1)[open_ones].tolist()
        reaches = [_reach(*each, conversion) for each in zip(tops, bottoms, errors, strict=True)]
        apart.reshape(-1)[open_ones] = reaches
    sign = np.where(np.asarray(value.numerator == 0), np.copysign(0.0, numbers.sign), np.sign(value.floats()))
    return Numbers(numbers.working, value, apart, np.where(numbers.finite, sign, numbers.sign), numbers.lost)


def _reach(top: int, bottom: int, error: float, conversion: str) -> float:
    """How far from the whole number of a ratio that of anything within the error lies."""
    if math.isinf(error):
        return error
    doubt, parts = error.as_integer_ratio()
    scaled, doubt, parts = top * parts, doubt * bottom, bottom * parts
    centre = round_ratio(top, bottom, conversion)
    ends = (round_ratio(scaled - doubt, parts, conversion), round_ratio(scaled + doubt, parts, conversion))
    return float(max(abs(each - centre) for each in ends))


def remainder(left: Numbers, right: Numbers, quotient: Literal["floor", "truncate"]) -> Numbers:
    """What is left of one number after whole multiples of another: exact, rounded once where it is no number.

    A multiple is the quotient rounded down, or without its fraction. NaN for an infinite number and for a
    remainder of zero; of an infinity, the number itself, or rounded down that infinity where signs differ.
    Where flushing leaves an operand open, anything up to the divisor; or NaN, where the divisor may be zero.
    """
    shape = np.broadcast_shapes(left.shape, right.shape)
    left, right = left.broadcast(shape), right.broadcast(shape)
    divisor = right.where(np.asarray(right.value.numerator != 0), 1).value
    ratio = left.value / divisor
    multiple = ratio.each(lambda top, bottom: round_ratio(top, bottom, quotient), object)
    value = left.value - divisor * Rationals(multiple, np.array(1, dtype=object))
    value = value.where(np.isfinite(right.sign), left.value)
    apart = np.sign(np.where(left.finite, left.sign, 0.0)) * np.sign(right.sign) < 0
    differ = np.isinf(right.sign) & apart & (quotient == "floor")
    special = np.where(np.isinf(left.sign) | (right.sign == 0), np.nan, 0.0)
    special = np.where(np.isnan(left.sign) | np.isnan(right.sign), np.nan, special)
    special = np.where(differ & left.finite, right.sign, special)
    open_ones = (left.error > 0) | (right.error > 0)
    error = np.where(open_ones, np.minimum(right.magnitude, left.working.greatest), 0.0)
    zero = np.copysign(0.0, right.sign if quotient == "floor" else left.sign)
    lost = left.lost | right.lost | right.may_be_zero()
    found = settled(left.working, value.reduced(), error, special, zero, lost)
    return found.rounded(1, exact=~open_ones)
