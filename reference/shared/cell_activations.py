"""The activation functions of recurrent cells, whose arguments carry errors from step to step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from reference.answers.orders import NanInMaxMin, above, below, greater_of, lesser_of
from reference.functions.functions import FUNCTIONS, function_of
from reference.functions.stable_formulas import (
    exponential_less_one,
    in_the_limit,
    logarithm_of_one_more,
    logistic,
    overflowing,
    whichever,
    with_bound_of,
)
from reference.numbers.number_arrays import Numbers, settled
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, rounded_up
from reference.readings.choices import Choice
from reference.shared.single_precision import held_float
from reference.shared.thresholds import beside, either

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
    found = found.rounded(1, exact=False, free=True)
    return with_bound_of(found, lambda: logistic(numbers)) if working.is_relaxed else found


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
    found = replace(plain, error=error).rounded(1, exact=False, free=True)
    if not working.is_relaxed:
        return found
    power = function_of("exp", numbers * -2)
    written = with_bound_of(found, lambda: (1 - power) / (1 + power))
    return with_bound_of(written, lambda: function_of("tanh", numbers))


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


_WITH_ALPHA = ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu")
_WITH_BETA = ("Affine", "ScaledTanh", "HardSigmoid")
_ALPHAS = {"LeakyRelu": Fraction(1, 100), "HardSigmoid": Fraction(1, 5)}
_BETAS = {"Affine": Fraction(0), "HardSigmoid": Fraction(1, 2)}
_HALF_OF_LOG = 0.34
"""Half of the natural logarithm of two, rounded down."""


@dataclass(frozen=True)
class Unsaid:
    """What no document says of functions; each is asked for where it matters."""

    nan_in_max_min: Choice[NanInMaxMin]
    nan_in_comparison: Choice[Literal["fails", "holds"]]
    infinity: Choice[Literal["nan", "limit"]]
    overflow: Choice[Literal["exact", "as_formula"]]
    at_threshold: Choice[Literal["kept", "zero"]]


@dataclass(frozen=True)
class CellFunction:
    """One of the functions by its name, with its numbers; None where the default holds."""

    name: str
    alpha: Fraction | None
    beta: Fraction | None
    unsaid: Unsaid

    def __call__(self, x: Numbers) -> Numbers:
        """The function of each number. Source: RNN, GRU and LSTM, Summary, Activation functions."""
        nan, nothing, one = self.unsaid.nan_in_max_min, _constant(x, 0), _constant(x, 1)
        match self.name:
            case "Relu":
                return greater_of(nothing, x, nan)
            case "Tanh":
                return self._tangent(x)
            case "Sigmoid":
                return sigmoid(x)
            case "Affine":
                return x * self._alpha(x) + self._beta(x)
            case "LeakyRelu":
                return _bent(x, x * self._alpha(x))
            case "ThresholdedRelu":
                return self._thresholded(x, self._alpha(x))
            case "ScaledTanh":
                return self._tangent(x * self._beta(x)) * self._alpha(x)
            case "HardSigmoid":
                line = x * self._alpha(x) + self._beta(x)
                return lesser_of(greater_of(line, nothing, nan), one, nan)
            case "Elu":
                low, alpha = x.where(below(x, one), one), self._alpha(x)
                power = function_of("exp", low)
                bent = whichever(exponential_less_one(low) * alpha, lambda: power * alpha - alpha)
                return _bent(x, bent)
            case "Softsign":
                ones = Numbers.exact(np.where(x.sign < 0, -1, 1).astype(object), x.working)
                return in_the_limit(x / (abs(x) + one), np.isinf(x.sign), ones, self.unsaid.infinity)
            case _:
                return logarithm_of_one_more(x, self.unsaid.overflow)

    def _alpha(self, x: Numbers) -> Numbers:
        return _parameter(self.alpha, _ALPHAS.get(self.name, Fraction(1)), x)

    def _beta(self, x: Numbers) -> Numbers:
        return _parameter(self.beta, _BETAS.get(self.name, Fraction(1)), x)

    def _tangent(self, x: Numbers) -> Numbers:
        """By its formula exp(-2x) overflows far below zero, and an infinity is divided by another."""
        found = tangent(x)
        lowest = x.sign == -np.inf
        if lowest.any():
            found = in_the_limit(found.where(~lowest, _nothing(found)), lowest, found, self.unsaid.infinity)
        beyond = x.value.floats() < -_HALF_OF_LOG * math.frexp(x.working.greatest)[1]
        return overflowing(found, beyond, found, self.unsaid.overflow) if beyond.any() else found

    def _thresholded(self, x: Numbers, alpha: Numbers) -> Numbers:
        """x from alpha on; the operator of that name has zero at alpha itself.

        Where rounding says on which side of alpha x lies, anything between the two.
        """
        level = alpha.value.fraction(0)
        near = np.abs((x.value - alpha.value).floats()) <= rounded_up(x.error + alpha.error)
        equal = x.finite & ((x.value - alpha.value).signs() == 0) & (x.error + alpha.error == 0)
        reached = above(x, level, self.unsaid.nan_in_comparison)
        if equal.any():
            reached = np.where(equal, self.unsaid.at_threshold.ask() == "kept", reached)
        return either(reached, x, _constant(x, 0), (x.finite & near & ~equal) | beside(x, level))


def functions_of(
    names: Sequence[str],
    alphas: Sequence[float],
    betas: Sequence[float],
    belong: Choice[Literal["taken", "placed"]],
    unsaid: Unsaid,
) -> list[CellFunction]:
    """The functions of a list with the numbers that belong to them.

    Source: RNN, GRU and LSTM, activations, activation_alpha, activation_beta.
    """
    taken = [list(_taken(names, *each)) for each in ((_WITH_ALPHA, alphas), (_WITH_BETA, betas))]
    placed = [list(_placed(names, *each)) for each in ((_WITH_ALPHA, alphas), (_WITH_BETA, betas))]
    chosen = placed if taken != placed and belong.ask() == "placed" else taken
    return [CellFunction(name, alpha, beta, unsaid) for name, alpha, beta in zip(names, *chosen, strict=True)]


def _taken(
    names: Sequence[str], takers: Sequence[str], numbers: Sequence[float]
) -> Iterator[Fraction | None]:
    """For each function the next of the numbers, where it takes one."""
    rest = iter(numbers)
    for name in names:
        number = next(rest, None) if name in takers else None
        yield None if number is None else held_float(number)


def _placed(
    names: Sequence[str], takers: Sequence[str], numbers: Sequence[float]
) -> Iterator[Fraction | None]:
    """For each function the number in its place, where it takes one."""
    for place, name in enumerate(names):
        yield held_float(numbers[place]) if name in takers and place < len(numbers) else None


def _parameter(given: Fraction | None, default: Fraction, x: Numbers) -> Numbers:
    """A number as a program holds it: a default as the decimal that it is, or as a float attribute."""
    if given is not None:
        return x.held(given)
    held = x.held(held_float(float(default)))
    apart = abs(float(held.value.fraction(0) - default))
    return replace(held, error=rounded_up(held.error + apart))


def _constant(like: Numbers, value: int) -> Numbers:
    return Numbers.exact(value, like.working)


def _bent(x: Numbers, low: Numbers) -> Numbers:
    """What `low` is below zero and x from zero on, where the two meet."""
    found = low.where(below(x, _constant(x, 0)), x)
    either_side = (x.error > 0) & (np.abs(x.value.floats()) <= x.error)
    return replace(found, error=np.where(either_side, np.maximum(low.error, x.error), found.error))


def _nothing(like: Numbers) -> Numbers:
    """NaN in the shape of other numbers."""
    nothing = _constant(like, 0).broadcast(like.shape)
    return replace(nothing, sign=np.full(like.shape, np.nan))
