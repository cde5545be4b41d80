"""Elu, Celu, Selu, Softsign, Softplus, Mish, Swish, SwiGLU, Gelu and its kin: lines bent by exponentials."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BINARY64
from reference.answers.orders import NanReading, below, greater_of, lesser_of
from reference.functions.functions import function_of
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
            share, weighed = (Fraction(float(np.float32(float(each)))) for each in (share, weighed))
        cube = (X * X * X).rounded(1, exact=False, ulps=POWER)
        cubic = X + cube * weighed
        turned = cubic * X.held(share).sqrt()
        weight = whichever(function_of("tanh", turned) + 1, lambda: logistic(turned * 2) * 2)
    else:
        turned = X / X.lift(2).sqrt()
        weight = whichever(function_of("erf", turned) + 1, lambda: function_of("erfc", -turned))
    return in_the_limit(X * Fraction(1, 2) * weight, X.sign == -np.inf, X.lift(0), infinity_in_formula)


Defaults = Annotated[Choice[Literal["stated", "printed"]], AsReading]
STATED = {"alpha": Fraction("1.67326319217681884765625"), "gamma": Fraction("1.05070102214813232421875")}
PRINTED = {name: Fraction(float(np.float32(each))) for name, each in (("alpha", 1.67326), ("gamma", 1.0507))}


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


Constants = Annotated[Choice[Literal["printed", "exact"]], AsReading]
QUICK = Fraction(float(np.float32(1.702)))
"""The alpha of QuickGelu where none is given, a float."""
_OF_TEXT: Choice[Literal["exact", "of_float"]] = Choice("exact")


@reference_operator("com.microsoft::Gelu")
def gelu(X: Numbers, *, infinity_in_formula: Infinity) -> Numbers:
    """0.5 * x * (1 + erf(x / sqrt(2))), as ai.onnx Gelu. Source: Gelu, Summary."""
    return gaussian_unit(X, infinity_in_formula=infinity_in_formula, constants_of_body=_OF_TEXT)


@reference_operator("com.microsoft::BiasGelu")
def gelu_with_bias(A: Numbers, B: Numbers, *, infinity_in_formula: Infinity) -> Numbers:
    """Gelu(A + B). Source: BiasGelu, Summary."""
    return gelu(A + B, infinity_in_formula=infinity_in_formula)


@reference_operator("com.microsoft::FastGelu")
def gelu_by_tangent(
    X: Numbers,
    bias: Numbers | None = None,
    *,
    infinity_in_formula: Infinity,
    constants_of_tanh: Constants,
) -> Numbers:
    """0.5 x (1 + tanh(0.797885 x + 0.035677 x^3)), of X + bias where there is one. Source: its Summary."""
    x = X if bias is None else X + bias
    cube = (x * x * x).rounded(1, exact=False, ulps=POWER)
    if constants_of_tanh.ask() == "printed":
        turned = x * Fraction("0.797885") + cube * Fraction("0.035677")
    else:
        share, weighed = x.held(2 / PI).sqrt(), x.held(Fraction("0.044715"))
        turned = whichever((x + cube * weighed) * share, lambda: x * share + cube * (weighed * share))
    weight = whichever(function_of("tanh", turned) + 1, lambda: logistic(turned * 2) * 2)
    return in_the_limit(x * Fraction(1, 2) * weight, x.sign == -np.inf, x.lift(0), infinity_in_formula)


@reference_operator("com.microsoft::QuickGelu")
def quick_gelu(X: Numbers, *, alpha: Fraction = QUICK, infinity_in_formula: Infinity) -> Numbers:
    """x * Sigmoid(alpha * x). Source: QuickGelu, Summary."""
    return swish(X, alpha=alpha, infinity_in_formula=infinity_in_formula)


@reference_operator("com.microsoft::BiasSplitGelu")
def gelu_of_the_right_half(X: Numbers, bias: Numbers, *, infinity_in_formula: Infinity) -> Numbers:
    """left * Gelu(right) of X + bias, cut into halves along the last axis. Source: BiasSplitGelu, Summary."""
    added, half = X + bias, X.shape[-1] // 2
    left = added.arranged(lambda each: each[..., :half])
    right = added.arranged(lambda each: each[..., half:])
    return left * gelu(right, infinity_in_formula=infinity_in_formula)
