"""Add, Sub, Mul and Div: one operation on elements that are broadcast against each other."""

from __future__ import annotations

from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator


@reference_operator("ai.onnx::Add")
def add(A: Numbers, B: Numbers) -> Numbers:
    """C = A + B. Source: Add, Summary."""
    return A + B


@reference_operator("ai.onnx::Sub")
def subtract(A: Numbers, B: Numbers) -> Numbers:
    """C = A - B. Source: Sub, Summary."""
    return A - B


@reference_operator("ai.onnx::Mul")
def multiply(A: Numbers, B: Numbers) -> Numbers:
    """C = A * B. Source: Mul, Summary."""
    return A * B


@reference_operator("ai.onnx::Div")
def divide(A: Numbers, B: Numbers) -> Numbers:
    """C = A / B, of integers without the fraction. Source: Div, Summary."""
    return A.truncated_quotient(B) if A.is_integer else A / B
