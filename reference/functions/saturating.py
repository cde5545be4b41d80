"""The logistic function and the hyperbolic tangent of numbers that carry errors: both level out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference.functions.functions import FUNCTIONS, function_of
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, rounded_up

_NEAR = 0.5


def sigmoid(numbers: Numbers) -> Numbers:
    """1 / (1 + exp(-x)), its exponential being off as that of a program may be.

    The value is found as (1 + tanh(x / 2)) / 2, whose slope is the value times what it lacks to 1.
    """
    working, unit = numbers.working, numbers.working.unit
    halved = replace(_exactly(numbers), value=numbers.value * Rationals.of(Fraction(1, 2)))
    tangent = function_of("tanh", halved)
    value = (tangent.value + Rationals.of(1)) * Rationals.of(Fraction(1, 2))
    size, rest = value.floats(), (Rationals.of(1) - value).floats()
    reach = _reach(numbers.error, size * rest, steepness=1, most=1.0)
    # The exponential counts as it does in 1 + exp(-x); a sum and a quotient of two roundings follow.
    relative = 2 * FUNCTIONS["exp"].allowance(working) * unit * (rest + reach) + 3 * unit
    error = reach + relative * (1 + 32 * unit) * (size + reach) + 2 * working.least
    # Where exp(-x) overflows the quotient is zero.
    error = error + np.where(size - reach < working.least_normal, size + reach, 0.0)
    error = np.where(np.isinf(numbers.sign), 0.0, rounded_up(error))
    special = np.where(np.isnan(numbers.sign), np.nan, 0.0)
    found = settled(working, value, error, special, np.zeros(numbers.shape), tangent.lost)
    return found.rounded(1, exact=False, free=True)


def tangent(numbers: Numbers) -> Numbers:
    """tanh(x), or (1 - exp(-2 x)) / (1 + exp(-2 x)), which is off by units of 1."""
    working, unit = numbers.working, numbers.working.unit
    plain = function_of("tanh", _exactly(numbers))
    size = np.abs(plain.value.floats())
    rest = (Rationals.of(1) - plain.value * plain.value).floats()
    reach = _reach(numbers.error, rest, steepness=2, most=2.0)
    known = (plain.value.signs() == 0) & (numbers.error == 0) | np.isinf(numbers.sign)
    allowance = FUNCTIONS["tanh"].allowance(working)
    error = 2 * allowance * unit * (size + reach) + (allowance + 1) * working.least
    error = error + FUNCTIONS["exp"].allowance(working) * unit * (1 + 32 * unit) * (rest + 2 * reach)
    error = np.where(known, 0.0, rounded_up(reach + error))
    return replace(plain, error=error).rounded(1, exact=False, free=True)


def _exactly(numbers: Numbers) -> Numbers:
    return replace(numbers, error=np.zeros(numbers.shape))


def _reach(error: Floats, slope: Floats, *, steepness: int, most: float) -> Floats:
    """How far the value may be off where the argument is; no two values are farther apart than `most`.

    `slope` is that at the argument. A step changes it by the exponential of `steepness` times the step at
    most, which is below 1 + 2 x for x up to one half.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        grown = steepness * error
        near = slope * error * (1 + 2 * grown)
    return np.where(grown <= _NEAR, np.minimum(near, most), most)
