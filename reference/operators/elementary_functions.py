"""Exp, Log, circular and hyperbolic functions and their inverses, Erf and Sigmoid: one number made of one."""

from __future__ import annotations

from reference.functions.functions import function_of
from reference.functions.stable_formulas import logistic
from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator


@reference_operator("ai.onnx::Exp")
def exponential(input: Numbers) -> Numbers:
    """e^x. Source: Exp, Summary."""
    return function_of("exp", input)


@reference_operator("ai.onnx::Log")
def logarithm(input: Numbers) -> Numbers:
    """The natural logarithm of x. Source: Log, Summary."""
    return function_of("log", input)


@reference_operator("ai.onnx::Sin")
def sine(input: Numbers) -> Numbers:
    """The sine of x radians. Source: Sin, Summary."""
    return function_of("sin", input)


@reference_operator("ai.onnx::Cos")
def cosine(input: Numbers) -> Numbers:
    """The cosine of x radians. Source: Cos, Summary."""
    return function_of("cos", input)


@reference_operator("ai.onnx::Tan")
def tangent(input: Numbers) -> Numbers:
    """The tangent of x radians. Source: Tan, Summary."""
    return function_of("tan", input)


@reference_operator("ai.onnx::Asin")
def arc_sine(input: Numbers) -> Numbers:
    """The angle between -pi/2 and pi/2 of which x is the sine. Source: Asin, Summary."""
    return function_of("asin", input)


@reference_operator("ai.onnx::Acos")
def arc_cosine(input: Numbers) -> Numbers:
    """The angle between 0 and pi of which x is the cosine. Source: Acos, Summary."""
    return function_of("acos", input)


@reference_operator("ai.onnx::Atan")
def arc_tangent(input: Numbers) -> Numbers:
    """The angle between -pi/2 and pi/2 of which x is the tangent. Source: Atan, Summary."""
    return function_of("atan", input)


@reference_operator("ai.onnx::Sinh")
def hyperbolic_sine(input: Numbers) -> Numbers:
    """(e^x - e^-x) / 2. Source: Sinh, Summary."""
    return function_of("sinh", input)


@reference_operator("ai.onnx::Cosh")
def hyperbolic_cosine(input: Numbers) -> Numbers:
    """(e^x + e^-x) / 2. Source: Cosh, Summary."""
    return function_of("cosh", input)


@reference_operator("ai.onnx::Tanh")
def hyperbolic_tangent(input: Numbers) -> Numbers:
    """sinh(x) / cosh(x). Source: Tanh, Summary."""
    return function_of("tanh", input)


@reference_operator("ai.onnx::Asinh")
def area_sine(input: Numbers) -> Numbers:
    """The number of which x is the hyperbolic sine. Source: Asinh, Summary."""
    return function_of("asinh", input)


@reference_operator("ai.onnx::Acosh")
def area_cosine(input: Numbers) -> Numbers:
    """The number above zero of which x is the hyperbolic cosine. Source: Acosh, Summary."""
    return function_of("acosh", input)


@reference_operator("ai.onnx::Atanh")
def area_tangent(input: Numbers) -> Numbers:
    """The number of which x is the hyperbolic tangent. Source: Atanh, Summary."""
    return function_of("atanh", input)


@reference_operator("ai.onnx::Erf")
def error_function(input: Numbers) -> Numbers:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x. Source: Erf, Summary."""
    return function_of("erf", input)


@reference_operator("ai.onnx::Sigmoid")
def sigmoid(X: Numbers) -> Numbers:
    """y = 1 / (1 + exp(-x)), by an exponential that does not overflow. Source: Sigmoid, Summary."""
    return logistic(X)
