"""Abs, Neg, Sign, Sqrt, Reciprocal, Floor, Ceil and Round: one number made of one."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from reference.answers.orders import whole
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator


@reference_operator("ai.onnx::Abs")
def absolute(X: Numbers) -> Numbers:
    """y = abs(x). Source: Abs, Summary."""
    return abs(X)


@reference_operator("ai.onnx::Neg")
def negative(X: Numbers) -> Numbers:
    """y = -x. Source: Neg, Summary."""
    return -X


@reference_operator("ai.onnx::Sign")
def sign(input: Numbers, *, sign_of_nan: Annotated[Choice[Literal["nan", "zero"]], AsReading]) -> Numbers:
    """1 above zero, -1 below it, 0 at zero, or where a number may be flushed to that.

    Source: Sign, Summary, second line.
    """
    nan = np.isnan(input.sign)
    ones = np.sign(np.where(nan, 0.0, input.sign)).astype(np.int64)
    found = Numbers.exact(ones.astype(object), input.working).or_also(0, input.may_be_zero())
    if nan.any() and sign_of_nan.ask() == "nan":
        return input.where(nan, found)
    return found


@reference_operator("ai.onnx::Sqrt")
def square_root(X: Numbers) -> Numbers:
    """y = x^0.5, NaN below zero. Source: Sqrt, Summary."""
    return X.sqrt()


@reference_operator("ai.onnx::Reciprocal")
def reciprocal(X: Numbers) -> Numbers:
    """y = 1/x. Source: Reciprocal, Summary."""
    return X.lift(1).divided(X)


@reference_operator("ai.onnx::Floor")
def floor(X: Numbers) -> Numbers:
    """The greatest whole number that is not above x. Source: Floor, Summary."""
    return whole(X, "floor")


@reference_operator("ai.onnx::Ceil")
def ceiling(X: Numbers) -> Numbers:
    """The least whole number that is not below x. Source: Ceil, Summary."""
    return whole(X, "ceil")


@reference_operator("ai.onnx::Round")
def nearest(X: Numbers) -> Numbers:
    """The nearest whole number, of two the even one. Source: Round, Summary, lines 2 and 3."""
    return whole(X, "half_even")
