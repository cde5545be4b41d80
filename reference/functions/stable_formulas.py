"""Formulas that several operators share, written so that nothing on the way overflows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from flint import arb

from reference.functions.functions import function_of
from reference.numbers.enclosures import nearest_value
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Floats, Mask, rounded_up
from reference.readings.choices import AsReading, Choice

Overflow = Annotated[Choice[Literal["exact", "as_formula"]], AsReading]
_LOG_OF_TWO = 0.6931472
"""Above the natural logarithm of two."""
_ROUNDINGS = 8
"""So many of the least double a program may be off by there."""
_LEAST_DOUBLE = math.ldexp(1.0, -1074)
_GONE = 16
"""What is so many times smaller than what rounding errs by is zero to every program."""
PI = nearest_value(lambda one: 4 * arb.atan(one), Fraction(1), 1280)
"""The circle's number with 1,280 bits."""


def logistic(numbers: Numbers) -> Numbers:
    """1 / (1 + exp(-x)), by the exponential of -|x|, which does not overflow."""
    power = function_of("exp", -abs(numbers))
    found = (numbers.lift(1) / (power + 1)).where(numbers.sign > 0, power / (power + 1))
    if numbers.working.arithmetic is None:
        return found
    # As it is written its exponential is beyond a format where the result is none of its smallest numbers.
    return with_bound_of(found, lambda: numbers.lift(1) / (function_of("exp", -numbers) + 1))


def in_the_limit(found: Numbers, infinite: Mask, limit: Numbers, option: Choice[str]) -> Numbers:
    """What a formula gives, or its limit where it multiplies an infinity with zero, which is asked there."""
    if infinite.any() and option.ask() == "limit":
        return found.where(~infinite, limit)
    return found


def overflowing(found: Numbers, beyond: Mask, exact: Numbers, option: Choice[str]) -> Numbers:
    """What a formula gives where a step of it is beyond all numbers: its result, or no number as well."""
    found = found.where(~beyond, exact)
    return replace(found, lost=found.lost | beyond) if option.ask() == "as_formula" else found


def logarithm_of_underflown(numbers: Numbers, apart: Mask, exact: Numbers) -> Numbers:
    """The logarithms of small positive numbers in the places `apart`, as far as programs hold those.

    `exact` are what stable formulas give. A program that holds zero comes to minus infinity; so does every
    one where the number is far below what its roundings leave of it. Programs that compute in double
    precision hold what is left there.
    """
    size = numbers.value.floats()
    error = _off_by_underflow(size, numbers.error, numbers.working.least)
    doubles = np.full(size.shape, _ROUNDINGS * _LEAST_DOUBLE)
    error = np.maximum(error, np.where(size > 0, _off_by_underflow(size, doubles, _LEAST_DOUBLE), 0.0))
    error = np.where(apart, np.maximum(exact.error, rounded_up(exact.error + error)), exact.error)
    return replace(exact, error=error, lost=exact.lost | apart)


def _off_by_underflow(size: Floats, error: Floats, least: float) -> Floats:
    """How far logarithms of sizes within an error of these lie from theirs; `least` is the smallest one."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # By the exponent alone, which is the same on every machine.
        more = np.frexp(1 + error / size)[1] * _LOG_OF_TWO
        less = np.frexp(np.maximum(size / least, 1))[1] * _LOG_OF_TWO
        inside, gone = error < size / 2, size * _GONE < error
        found = np.where(inside, 2 * error / np.where(inside, size, 1), np.maximum(more, less))
    return np.where(gone, 0.0, rounded_up(found))


def whichever(first: Numbers, *others: Callable[[], Numbers]) -> Numbers:
    """One value that programs come to by several formulas: with the greatest of their errors.

    Where one formula gives a number and another none, anything may come out. The others are worked out where
    that is asked.
    """
    error, lost = first.error, first.lost
    for work_out in others:
        each = work_out()
        error = np.maximum(error, each.error)
        lost = lost | each.lost | (each.finite != first.finite)
    return replace(first, error=error, lost=lost)


def with_bound_of(found: Numbers, work_out: Callable[[], Numbers]) -> Numbers:
    """What a formula gives, with the error of another one for it where that gives a number as well."""
    other = work_out()
    return replace(found, error=np.maximum(found.error, np.where(other.finite, other.error, 0)))


def exponential_less_one(numbers: Numbers) -> Numbers:
    """exp(x) - 1, as it is written or by the function of that name."""
    return whichever(function_of("exp", numbers) - 1, lambda: function_of("expm1", numbers))


def logarithm_of_one_more(numbers: Numbers, overflow: Choice[str]) -> Numbers:
    """ln(exp(x) + 1) by either function of it, which is x where the exponential overflows."""
    power = function_of("exp", numbers)
    found = whichever(function_of("log", power + 1), lambda: function_of("log1p", power))
    beyond = np.isinf(power.sign) & numbers.finite
    if not beyond.any():
        return found
    exact = numbers + function_of("log1p", function_of("exp", -abs(numbers)))
    return overflowing(found, beyond, exact, overflow)
