"""QGemm, MatMulIntegerToFloat and DynamicQuantizeMatMul: products of matrices of numbers in steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.numbers.number_arrays import Numbers
from reference.operators.dynamic_quantisation import STEPS, dynamic_quantize_linear
from reference.operators.quantised_products import TiesOfSteps, apart, in_steps, quantised, requantised
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.sums.products import product_of_matrices


def _for_all(scale: Numbers) -> Numbers:
    """One scale for all, or one for each column."""
    return scale.reshape(()) if scale.error.size == 1 else scale


@reference_operator("com.microsoft::QGemm")
def quantised_general_product(
    A: Tensor,
    a_scale: Numbers,
    a_zero_point: Tensor,
    B: Tensor,
    b_scale: Numbers,
    b_zero_point: Tensor,
    C: Tensor | None = None,
    y_scale: Numbers | None = None,
    y_zero_point: Tensor | None = None,
    *,
    alpha: Fraction = Fraction(1),
    transA: int = 0,
    transB: int = 0,
    ties_of_steps: TiesOfSteps,
) -> Answer | Numbers:
    """alpha A' B' of (A - zero point) a_scale and B likewise, plus C in steps of alpha a_scale b_scale.

    Zero points and scales of columns are those of B transposed. Without y_scale it is what a program comes
    to, else quantised. Source: QGemm, alpha, transA, transB, A, B, b_scale, C, y_scale.
    """
    rows = apart(A, a_zero_point, a_scale)
    rows = rows.transposed() if transA else rows
    columns = Numbers.of(B, b_scale.working)
    columns = columns.transposed() if transB else columns
    columns = columns - _for_all(Numbers.of(b_zero_point, b_scale.working))
    row_scale, column_scale = a_scale.reshape(()) * alpha, _for_all(b_scale)
    plain = product_of_matrices(rows, columns)
    scaled = product_of_matrices(rows * row_scale, columns * column_scale)
    if C is not None:
        added = Numbers.of(C, a_scale.working)
        plain, scaled = plain + added, scaled + added * (row_scale * column_scale)
    if y_scale is None or y_zero_point is None:
        return in_steps(scaled, plain, row_scale, column_scale, a_scale.lift(1), a_scale.working)
    quotient = requantised(scaled, plain, row_scale, column_scale, y_scale.reshape(()), a_scale.working)
    return quantised(quotient, y_zero_point, ties=ties_of_steps)


@reference_operator("com.microsoft::MatMulIntegerToFloat")
def product_of_integers_as_floats(
    A: Tensor,
    B: Tensor,
    a_scale: Numbers,
    b_scale: Numbers,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Numbers | None = None,
) -> Numbers:
    """(A - a_zero_point) a_scale times (B - b_zero_point) b_scale, plus the bias. Source: its Inputs."""
    rows, columns = apart(A, a_zero_point, a_scale), apart(B, b_zero_point, b_scale)
    return _product(rows, a_scale.reshape(()), columns, _for_all(b_scale), bias)


def _product(
    rows: Numbers, row_scale: Numbers, columns: Numbers, column_scale: Numbers, bias: Numbers | None
) -> Numbers:
    """The product of steps times both scales, in any order, plus a bias for each column."""
    scaled = product_of_matrices(rows * row_scale, columns * column_scale)
    plain = product_of_matrices(rows, columns)
    found = in_steps(scaled, plain, row_scale, column_scale, row_scale.lift(1), row_scale.working)
    return found if bias is None else found + bias


@reference_operator("com.microsoft::DynamicQuantizeMatMul")
def product_quantised_on_the_way(
    A: Numbers,
    B: Tensor,
    b_scale: Numbers,
    b_zero_point: Tensor | None = None,
    bias: Numbers | None = None,
) -> Numbers:
    """A as DynamicQuantizeLinear has it, times (B - b_zero_point) b_scale, plus the bias.

    No sentence says more than the operator's name, which is that of the operator it is read as.
    Source: DynamicQuantizeMatMul, Inputs; DynamicQuantizeLinear, Summary.
    """
    rows, scale = quantised_on_the_way(A)
    return _product(rows, scale, apart(B, b_zero_point, b_scale), _for_all(b_scale), bias)


def quantised_on_the_way(given: Numbers) -> tuple[Numbers, Numbers]:
    """Numbers in steps of a byte from zero, off by one where either side is as good, and the step."""
    y, scale, zero = dynamic_quantize_linear(
        given, nan_in_max_min=Choice("propagates"), scale_of_zeros=Choice("one")
    )
    assert isinstance(y, Answer)
    assert isinstance(zero, Answer)
    assert isinstance(scale, Numbers)
    assert y.allowed is not None
    assert zero.allowed is not None
    found = y.expected.array.astype(np.int64)
    # A zero point that is another one moves all elements but those at the ends of the range.
    moved = (found == 0) | (found == STEPS) | ~np.isfinite(y.allowed)
    error = np.where(moved, y.allowed, np.where(moved, 0.0, y.allowed) - np.where(moved, 0.0, zero.allowed))
    steps = Numbers.exact((found - int(zero.expected.array)).astype(object), given.working)
    return replace(steps, error=error), scale
