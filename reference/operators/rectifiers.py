"""LeakyRelu, PRelu, ThresholdedRelu, HardSigmoid, HardSwish and Shrink: pieces of straight lines."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from reference.answers.orders import NanComparison, NanReading, above, below, greater_of, lesser_of
from reference.functions.stable_formulas import with_bound_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.rationals import Rationals
from reference.numbers.working import Mask
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.single_precision import held_float
from reference.shared.thresholds import beside, either

Infinity = Annotated[Choice[Literal["nan", "limit"]], AsReading]


@reference_operator("ai.onnx::LeakyRelu")
def leaky(X: Numbers, *, alpha: Fraction = Fraction(1, 100)) -> Numbers:
    """f(x) = alpha * x for x < 0, x for x >= 0. Source: LeakyRelu, Summary."""
    return (X * alpha).where(below(X, 0), X)


@reference_operator("ai.onnx::PRelu")
def parametric(X: Numbers, slope: Numbers) -> Numbers:
    """f(x) = slope * x for x < 0, x for x >= 0; the slope is broadcast to X. Source: PRelu, Summary."""
    return (X * slope).where(below(X, 0), X)


@reference_operator("ai.onnx::ThresholdedRelu")
def thresholded(X: Numbers, *, alpha: Fraction = Fraction(1), nan_in_comparison: NanComparison) -> Numbers:
    """y = x for x > alpha, 0 otherwise. Source: ThresholdedRelu, Summary."""
    return either(above(X, alpha, nan_in_comparison), X, X.lift(0), beside(X, alpha))


@reference_operator("ai.onnx::HardSigmoid")
def hard_sigmoid(
    X: Numbers,
    *,
    alpha: Fraction = Fraction(1, 5),
    beta: Fraction = Fraction(1, 2),
    infinity_in_formula: Infinity,
    nan_in_max_min: NanReading,
) -> Numbers:
    """y = max(0, min(1, alpha * x + beta)). Source: HardSigmoid, Summary."""
    beyond = np.isinf(X.sign)
    if alpha == 0 and beyond.any() and infinity_in_formula.ask() == "limit":
        X = X.where(~beyond, 0)
    return greater_of(X.lift(0), lesser_of(X.lift(1), X * alpha + beta, nan_in_max_min), nan_in_max_min)


@reference_operator("ai.onnx::HardSwish")
def hard_swish(
    X: Numbers,
    *,
    alpha_of_body: Annotated[Choice[Literal["sixth", "float32"]], AsReading],
    infinity_in_formula: Infinity,
    nan_in_max_min: NanReading,
) -> Numbers:
    """y = x * max(0, min(1, alpha * x + beta)), alpha = 1/6 and beta = 0.5. Source: HardSwish, Summary.

    Programs that take alpha out, x * max(0, min(6, x + 3)) * alpha, compute the same formula.
    """
    alpha = Fraction(1, 6)
    if X.working.element_type.name == "double" and alpha_of_body.ask() == "float32":
        alpha = held_float(1 / 6)
    line = X * X.held(alpha) + Fraction(1, 2)
    found = X * greater_of(X.lift(0), lesser_of(X.lift(1), line, nan_in_max_min), nan_in_max_min)
    found = with_bound_of(
        found,
        lambda: (
            X
            * greater_of(X.lift(0), lesser_of(X.lift(6), X + 3, nan_in_max_min), nan_in_max_min)
            * X.held(alpha)
        ),
    )
    lowest = X.sign == -np.inf
    if lowest.any() and infinity_in_formula.ask() == "limit":
        return found.where(~lowest, 0)
    return found


@reference_operator("ai.onnx::Shrink")
def shrink(
    input: Numbers,
    *,
    bias: Fraction = Fraction(0),
    lambd: Fraction = Fraction(1, 2),
    both_conditions: Annotated[Choice[Literal["first", "second"]], AsReading],
    nan_in_comparison: NanComparison,
) -> Numbers:
    """y = x + bias for x < -lambd, x - bias for x > lambd, 0 otherwise. Source: Shrink, Summary."""
    nothing = input.lift(0)
    low, high = below(input, -lambd), above(input, lambd, nan_in_comparison)
    beside_low, beside_high = _open_beside(input, -lambd), _open_beside(input, lambd)
    if (low & high).any() and both_conditions.ask() == "second":
        other = either(low, input + bias, nothing, beside_low)
        return either(high, input - bias, other, beside_high)
    kept = either(high, input - bias, nothing, beside_high)
    return either(low, input + bias, kept, beside_low)


def _open_beside(input: Numbers, bound: Fraction) -> Mask:
    """Where a bound in the narrow type, or a number that is flushed, is compared otherwise."""
    apart = np.abs((input.value - Rationals.of(bound)).floats())
    return beside(input, bound) | (input.error > 0) & (apart <= input.error)
