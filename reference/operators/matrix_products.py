"""MatMul, MatMulInteger and Gemm: products of matrices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from opcert.vocabulary.element_types import ELEMENT_TYPES
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.sums.products import product_of_matrices
from reference.sums.summation import sum_of_products


@reference_operator("ai.onnx::MatMul")
def matrix_product(A: Numbers, B: Numbers) -> Numbers:
    """As numpy.matmul: stacks of matrices are broadcast, vectors lose their axis. Source: MatMul, Summary."""
    return product_of_matrices(A, B)


@reference_operator("ai.onnx::MatMulInteger")
def integer_matrix_product(
    A: Numbers, B: Numbers, a_zero_point: Numbers | None = None, b_zero_point: Numbers | None = None
) -> Answer:
    """(A - a_zero_point, by rows) times (B - b_zero_point, by columns), in int32. Source: its Inputs."""
    if a_zero_point is not None:
        by_rows = A.ndim == 2 and a_zero_point.ndim == 1
        A = A - (a_zero_point.reshape((*a_zero_point.shape, 1)) if by_rows else a_zero_point)
    if b_zero_point is not None:
        B = B - b_zero_point
    return answer_of(product_of_matrices(A, B), Choice("wrap"), ELEMENT_TYPES["int32"])


@reference_operator("ai.onnx::Gemm")
def general_matrix_product(
    A: Numbers,
    B: Numbers,
    C: Numbers | None = None,
    *,
    alpha: Fraction = Fraction(1),
    beta: Fraction = Fraction(1),
    transA: int = 0,
    transB: int = 0,
) -> Numbers:
    """Y = alpha * A' * B' + beta * C; alpha may go to the factors, C is one more term. Source: Gemm, Summary.

    Where beta is 0 a program may leave C out, and A and B where alpha is.
    """
    rows, columns = A.transposed() if transA else A, B if transB else B.transposed()
    shapes = (rows.shape[0], 1, rows.shape[1]), (1, *columns.shape)
    first, columns = rows.reshape(shapes[0]), columns.reshape(shapes[1])
    plain = sum_of_products(first, columns)
    added = C if C is None or beta == 1 else C * beta
    found = sum_of_products(first if alpha == 1 else first * alpha, columns, plus=added)
    found = replace(found, lost=found.lost | plain.lost)
    if A.working.arithmetic is not None and alpha != 1:
        # Where operands have few bits, so may the sum have before it is scaled.
        found = whichever(found, lambda: plain * alpha if added is None else plain * alpha + added)
    left_out = ~plain.finite & (alpha == 0)
    if added is not None:
        left_out = left_out | ~added.finite & (beta == 0)
    return opened(found, left_out)
