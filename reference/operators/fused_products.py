"""FusedMatMul and TransposeMatMul: products of stacks of matrices, transposed and scaled on the way."""

from __future__ import annotations

from fractions import Fraction

from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator
from reference.sums.products import product_of_matrices


@reference_operator("com.microsoft::FusedMatMul")
def fused_matrix_product(
    A: Numbers,
    B: Numbers,
    *,
    alpha: Fraction = Fraction(1),
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Numbers:
    """alpha times the products of A and B as numpy.matmul has them, the last two axes exchanged where asked.

    Before that the first axis of a stack goes behind its batches. A program may multiply A by alpha instead.
    Source: FusedMatMul, Summary, alpha, transA, transBatchA.
    """
    left, right = _turned(A, transA, transBatchA), _turned(B, transB, transBatchB)
    plain = product_of_matrices(left, right)
    if alpha == 1:
        return plain
    return whichever(
        plain * alpha,
        lambda: product_of_matrices(left * alpha, right),
        lambda: product_of_matrices(left, right * alpha),
    )


def _turned(given: Numbers, swapped: int, batches: int) -> Numbers:
    """A stack whose first axis comes behind its batches, and the last two of which change places."""
    order = [*range(given.ndim)]
    if batches:
        order = [*order[1:-1], 0, order[-1]]
    if swapped:
        order = [*order[:-2], order[-1], order[-2]]
    return given.transposed(tuple(order))


@reference_operator("com.microsoft::TransposeMatMul")
def transposed_matrix_product(
    A: Numbers, B: Numbers, *, alpha: Fraction = Fraction(1), transA: int = 0, transB: int = 0
) -> Numbers:
    """As FusedMatMul, of which it is a former name. Source: TransposeMatMul, Summary."""
    return fused_matrix_product(A, B, alpha=alpha, transA=transA, transB=transB)
