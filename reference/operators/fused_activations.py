"""Gelu and its kin of com.microsoft: with a bias, by a tangent of six digits, quick, and of halves.

BiasSoftmax, which adds a bias first as well.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from reference.functions.functions import function_of
from reference.functions.powers import power_ulps
from reference.functions.stable_formulas import PI, in_the_limit, logistic, whichever
from reference.numbers.number_arrays import Numbers
from reference.operators.exponential_units import POWER, Infinity, gaussian_unit, swish
from reference.operators.softmaxes import softmax
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.single_precision import held_float

Constants = Annotated[Choice[Literal["printed", "exact"]], AsReading]
QUICK = held_float(1.702)
"""The alpha of QuickGelu where none is given, a float."""
_OF_MATRICES = 11
"""A version of Softmax that takes all dimensions from the axis on together."""
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
    cube = (x * x * x).rounded(1, exact=False, ulps=power_ulps(x.working, POWER))
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


@reference_operator("com.microsoft::BiasSoftmax")
def softmax_with_bias(data: Numbers, bias: Numbers, *, axis: int = 1, is_inner_broadcast: int) -> Numbers:
    """softmax(data + bias) of all dimensions from the axis on; how the bias is broadcast its shape says.

    Source: BiasSoftmax, Summary, axis, is_inner_broadcast.
    """
    return softmax(data + bias, axis=axis, version=_OF_MATRICES)
