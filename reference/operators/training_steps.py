"""Momentum, Adagrad and Adam: one step of an optimization, of several tensors at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from reference.functions.powers import SpecialPowers, power_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.single_precision import held_float

_NOTHING = Fraction(0)
_EPSILONS = {"schema": held_float(1e-6), "printed": _NOTHING}
Epsilon = Annotated[Choice[Literal["schema", "printed"]], AsReading]
"""What epsilon is where it is left out: that of ONNX's schemas, or what its pages print of that."""


@reference_operator("ai.onnx.preview.training::Momentum")
def momentum(
    R: Numbers,
    T: int,
    inputs: tuple[Numbers, ...],
    *,
    alpha: Fraction,
    beta: Fraction,
    mode: str,
    norm_coefficient: Fraction,
) -> tuple[Numbers, ...]:
    """X_new, then V_new, of X, G and V: the gradient or Nesterov's direction, times R. Source: Summary."""

    def step(X: Numbers, G: Numbers, V: Numbers) -> tuple[Numbers, ...]:
        regularized = norm_coefficient * X + G
        average = alpha * V + (beta if T > 0 else 1) * regularized
        direction = regularized + alpha * average if mode == "nesterov" else average
        return X - R * direction, average

    return _by_tensor(step, 3, inputs)


@reference_operator("ai.onnx.preview.training::Adagrad")
def adagrad(
    R: Numbers,
    T: int,
    inputs: tuple[Numbers, ...],
    *,
    decay_factor: Fraction = _NOTHING,
    epsilon: Fraction | None = None,
    norm_coefficient: Fraction = _NOTHING,
    default_epsilon: Epsilon,
) -> tuple[Numbers, ...]:
    """X_new, then H_new, of X, G and H: the gradient over the root of its squares so far. Source: Summary."""
    epsilon = _EPSILONS[default_epsilon.ask()] if epsilon is None else epsilon
    rate = R / (1 + R.held(T) * decay_factor)

    def step(X: Numbers, G: Numbers, H: Numbers) -> tuple[Numbers, ...]:
        regularized = norm_coefficient * X + G
        squares = H + regularized * regularized
        return X - _scaled(rate, regularized, squares.sqrt() + epsilon), squares

    return _by_tensor(step, 3, inputs)


@reference_operator("ai.onnx.preview.training::Adam")
def adam(
    R: Numbers,
    T: int,
    inputs: tuple[Numbers, ...],
    *,
    alpha: Fraction = Fraction("0.9"),
    beta: Fraction = Fraction("0.999"),
    epsilon: Fraction | None = None,
    norm_coefficient: Fraction = _NOTHING,
    norm_coefficient_post: Fraction = _NOTHING,
    default_epsilon: Epsilon,
) -> tuple[Numbers, ...]:
    """X_final, V_new, then H_new, of X, G, V and H: averages of gradients and squares. Source: Summary."""
    epsilon = _EPSILONS[default_epsilon.ask()] if epsilon is None else epsilon
    rate = R
    if T > 0:
        rate = _scaled(R, (1 - _power(R, beta, T)).sqrt(), 1 - _power(R, alpha, T))
    # What is one less a coefficient is held as such, or is a difference of what is held.
    rest, rest_of_squares, kept = (1 - R.held(each) for each in (alpha, beta, norm_coefficient_post))

    def step(X: Numbers, G: Numbers, V: Numbers, H: Numbers) -> tuple[Numbers, ...]:
        regularized = norm_coefficient * X + G
        average = alpha * V + rest * regularized
        new = _either(
            rest_of_squares * regularized * regularized, rest_of_squares * (regularized * regularized)
        )
        squares = beta * H + new
        moved = X - _scaled(rate, average, squares.sqrt() + epsilon)
        return kept * moved, average, squares

    return _by_tensor(step, 4, inputs)


def _scaled(factor: Numbers, dividend: Numbers, divisor: Numbers) -> Numbers:
    """factor * dividend / divisor, whichever of the two comes first."""
    return _either(factor * dividend / divisor, factor * (dividend / divisor))


def _either(one: Numbers, other: Numbers) -> Numbers:
    """The same number, computed in one order or another: as far off as either, open where one is none."""
    apart = np.asarray(one.finite != other.finite)
    found = replace(one, error=np.maximum(one.error, other.error), lost=one.lost | other.lost)
    return opened(found, apart) if apart.any() else found


def _power(working: Numbers, coefficient: Fraction, step: int) -> Numbers:
    special: SpecialPowers = Choice("pow")
    return power_of(working.held(coefficient), working.held(step), special)


def _by_tensor(
    step: Callable[..., tuple[Numbers, ...]], groups: int, inputs: tuple[Numbers, ...]
) -> tuple[Numbers, ...]:
    """The outputs of all tensors, group by group; a group has as many tensors as are optimized."""
    count = len(inputs) // groups
    found = [step(*inputs[place::count]) for place in range(count)]
    return tuple(outputs[place] for place in range(len(found[0])) for outputs in found)
