"""Selu and SwiGLU: an exponential unit with two coefficients, and Swish times another input."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from reference.functions.functions import function_of
from reference.functions.stable_formulas import exponential_less_one, whichever
from reference.numbers.number_arrays import Numbers
from reference.operators.exponential_units import Infinity, swish
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator

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
