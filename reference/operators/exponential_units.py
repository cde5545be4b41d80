"""Elu, Celu, Selu, Softsign, Softplus, Mish, Swish, SwiGLU, Gelu: lines bent or weighed by exponentials."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BINARY64
from reference.answers.orders import NanReading, below, greater_of, lesser_of
from reference.functions.functions import function_of
from reference.functions.powers import power_ulps
from reference.functions.stable_formulas import (
    PI,
    Overflow,
    exponential_less_one,
    in_the_limit,
    logarithm_of_one_more,
    logistic,
    whichever,
)
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.single_precision import held_float

POWER = 16.0
"""Units in the last place that a power may be off by, by the table that `functions/functions.py` cites."""
Infinity = Annotated[Choice[Literal["nan", "limit"]], AsReading]


@reference_operator("ai.onnx::Elu")
def exponential_unit(X: Numbers, *, alpha: Fraction = Fraction(1)) -> Numbers:
    """f(x) = alpha * (exp(x) - 1) for x < 0, x for x >= 0. Source: Elu, Summary."""
    return _bent(X, alpha).where(below(X, 0), X)


@reference_operator("ai.onnx::Celu")
def continuous_exponential_unit(
    X: Numbers, *, alpha: Fraction = Fraction(1), nan_in_max_min: NanReading
) -> Numbers:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). Source: Celu, Summary."""
    # Above 0 the second part is 0, whatever the exponential comes to.
    bent = _bent(X.where(~(X.sign > 0), 0) / alpha, alpha)
    found = greater_of(X.lift(0), X, nan_in_max_min) + lesser_of(X.lift(0), bent, nan_in_max_min)
    return found.where(~(X.sign >= 0), X)


def _bent(argument: Numbers, alpha: Fraction) -> Numbers:
    """alpha * (exp(argument) - 1), or with the product taken apart."""
    power = function_of("exp", argument)
    return whichever(exponential_less_one(argument) * alpha, lambda: power * alpha - alpha)


@reference_operator("ai.onnx::Softsign")
def softsign(input: Numbers, *, infinity_in_formula: Infinity) -> Numbers:
    """x / (1 + |x|). Source: Softsign, Summary."""
    ones = Numbers.exact(np.where(input.sign < 0, -1, 1).astype(object), input.working)
    return in_the_limit(input / (abs(input) + 1), np.isinf(input.sign), ones, infinity_in_formula)


@reference_operator("ai.onnx::Softplus")
def softplus(X: Numbers, *, intermediate_overflow: Overflow) -> Numbers:
    """y = ln(exp(x) + 1), which is x where the exponential overflows. Source: Softplus, Summary."""
    return logarithm_of_one_more(X, intermediate_overflow)


@reference_operator("ai.onnx::Mish")
def mish(X: Numbers, *, infinity_in_formula: Infinity) -> Numbers:
    """x * tanh(ln(1 + e^x)). Source: Mish, Summary."""
    power = function_of("exp", X)
    softened = whichever(function_of("log", power + 1), lambda: function_of("log1p", power))
    # Where the tangent is 1 but for a rounding it makes no difference whether the exponential overflows.
    great = below(X.lift(8), X)
    if great.any():
        softened = softened.where(~great, X + function_of("log1p", function_of("exp", -abs(X))))
    found = X * function_of("tanh", softened)
    return in_the_limit(found, X.sign == -np.inf, X.lift(0), infinity_in_formula)


@reference_operator("ai.onnx::Swish")
def swish(X: Numbers, *, alpha: Fraction = Fraction(1), infinity_in_formula: Infinity) -> Numbers:
    """x * sigmoid(alpha * x). Source: Swish, Summary."""
    found = X * logistic(X * alpha)
    vanishing = np.isinf(X.sign) & ((X.sign < 0) == (alpha > 0)) & (alpha != 0)
    return in_the_limit(found, vanishing, X.lift(0), infinity_in_formula)


@reference_operator("ai.onnx::Gelu")
def gaussian_unit(
    X: Numbers,
    *,
    approximate: str = "none",
    infinity_in_formula: Infinity,
    constants_of_body: Annotated[Choice[Literal["exact", "of_float"]], AsReading],
) -> Numbers:
    """0.5 * x * (1 + erf(x / sqrt(2))), or by tanh where asked. Source: Gelu, Summary."""
    if approximate == "tanh":
        share, weighed = 2 / PI, Fraction(44715, 1000000)
        if X.working.layout == BINARY64 and constants_of_body.ask() == "of_float":
            share, weighed = (held_float(float(each)) for each in (share, weighed))
        cube = (X * X * X).rounded(1, exact=False, ulps=power_ulps(X.working, POWER))
        cubic = X + cube * weighed
        turned = cubic * X.held(share).sqrt()
        weight = whichever(function_of("tanh", turned) + 1, lambda: logistic(turned * 2) * 2)
    else:
        turned = X / X.lift(2).sqrt()
        weight = whichever(function_of("erf", turned) + 1, lambda: function_of("erfc", -turned))
    return in_the_limit(X * Fraction(1, 2) * weight, X.sign == -np.inf, X.lift(0), infinity_in_formula)


Defaults = Annotated[Choice[Literal["stated", "printed"]], AsReading]
STATED = {"alpha": Fraction("1.67326319217681884765625"), "gamma": Fraction("1.05070102214813232421875")}
PRINTED = {name: held_float(each) for name, each in (("alpha", 1.67326), ("gamma", 1.0507))}


@reference_operator("ai.onnx::Selu")
def scaled_exponential_unit(
    X: Numbers, *, alpha: Fraction | None = None, gamma: Fraction | None = None, defaults: Defaults
) -> Numbers:
    """gamma * (alpha * e^x - alpha) for x <= 0, gamma * x above. Source: Selu, Summary, alpha, gamma."""
    left_out = alpha is None or gamma is None
    known = PRINTED if left_out and defaults.ask() == "printed" else STATED
    alpha = known["alpha"] if alpha is None else alpha
    gamma = known["gamma"] if gamma is None else gamma
    power = function_of("exp", X.where(~(X.sign > 0), 0))
    bent = exponential_less_one(X.where(~(X.sign > 0), 0))
    low = whichever(
        bent * alpha * gamma,
        lambda: (power * alpha - alpha) * gamma,
        lambda: bent * (X.held(alpha) * gamma),
    )
    return low.where(~(X.sign > 0), X * gamma)


@reference_operator("ai.onnx::SwiGLU")
def swish_gated_linear_unit(
    A: Numbers, B: Numbers, *, alpha: Fraction = Fraction(1), infinity_in_formula: Infinity
) -> Numbers:
    """Y = Swish_alpha(A) * B. Source: SwiGLU, Summary, alpha."""
    return swish(A, alpha=alpha, infinity_in_formula=infinity_in_formula) * B
