"""QLinearMatMul and QLinearConv: products of quantised numbers, quantised anew."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.quantised import InfinityToFnuz
from reference.answers.requantisation import (
    GREATEST_PRODUCT,
    GREATEST_SUM,
    StepsOfFloats,
    TiesOfSteps,
    accumulating,
    distance,
    in_steps,
    quantised,
)
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.operators.convolutions import convolved
from reference.operators.matrix_products import product_of_matrices
from reference.operators.quantisation import held
from reference.registry import reference_operator
from reference.shared.windows import Ints, slide


@reference_operator("ai.onnx::QLinearMatMul")
def quantised_matrix_product(
    a: Tensor,
    a_scale: Numbers,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Numbers,
    b_zero_point: Tensor,
    y_scale: Numbers,
    y_zero_point: Tensor,
    *,
    steps_of_floats: StepsOfFloats,
    infinity_to_fnuz: InfinityToFnuz,
) -> Answer:
    """y = saturate((x / y_scale) + y_zero_point), x the product of (a - zero point) a_scale and b likewise.

    Source: QLinearMatMul, Summary.
    """
    precise, summing = a_scale.working, accumulating(a_scale.working)
    row_scale, column_scale = _by_rows(a_scale), _by_columns(b_scale)
    left = distance(a, _by_rows(Numbers.of(a_zero_point, summing)), summing)
    right = distance(b, _by_columns(Numbers.of(b_zero_point, summing)), summing)
    left = left.reshape((1, *left.shape)) if left.ndim == 1 else left
    right = right.reshape((*right.shape, 1)) if right.ndim == 1 else right
    scaled = product_of_matrices(held(left, precise) * row_scale, held(right, precise) * column_scale)
    plain = product_of_matrices(left, right)
    quotient = in_steps(scaled, plain, row_scale, column_scale, y_scale.reshape(()), precise)
    quotient = _beyond_sums(quotient, np.array(left.shape[-1] * GREATEST_PRODUCT))
    lengths = quotient.shape[-2:][len(a.shape) == 1 : 2 - (len(b.shape) == 1)]
    return quantised(
        quotient.reshape((*quotient.shape[:-2], *lengths)),
        y_zero_point,
        steps_of_floats=steps_of_floats,
        infinity_to_fnuz=infinity_to_fnuz,
    )


def _by_rows(given: Numbers) -> Numbers:
    """One number for all, one for each row of a matrix, or as they are beside a stack of matrices."""
    if prod(given.shape) == 1:
        return given.reshape(())
    return given.reshape((*given.shape, 1)) if given.ndim == 1 else given


def _by_columns(given: Numbers) -> Numbers:
    """One number for all, or one for each column."""
    return given.reshape(()) if prod(given.shape) == 1 else given


def _beyond_sums(quotient: Numbers, sizes: NDArray[Any]) -> Numbers:
    """Open where what is added up may have a magnitude that integers of 32 bits do not hold."""
    beyond = sizes > GREATEST_SUM
    return opened(quotient, beyond) if beyond.any() else quotient


@reference_operator("ai.onnx::QLinearConv")
def quantised_convolution(
    x: Tensor,
    x_scale: Numbers,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Numbers,
    w_zero_point: Tensor,
    y_scale: Numbers,
    y_zero_point: Tensor,
    B: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """The convolution of (x - zero point) x_scale and w likewise, plus B x_scale w_scale, quantised.

    Padding is zero among the real numbers: the zero point. Source: QLinearConv, Summary and Inputs.
    """
    windows = slide(
        x.shape[2:], w.shape[2:], strides=strides, pads=pads, dilations=dilations, auto_pad=auto_pad
    )
    working, ones = x_scale.working, (1,) * (len(w.shape) - 1)
    each_of_w = (prod(w_scale.shape), *ones)
    elements = distance(x, Numbers.of(x_zero_point, working).reshape(()), working)
    filters = distance(w, Numbers.of(w_zero_point, working).reshape(each_of_w), working)
    scales = x_scale.reshape(()), w_scale.reshape(each_of_w)
    bias = None if B is None else Numbers.of(B, working)
    scaled_bias = None if bias is None else bias * (scales[0] * w_scale.reshape(each_of_w[:1]))
    scaled = convolved(elements * scales[0], filters * scales[1], group, windows, scaled_bias)
    by_feature = (scales[0], scales[1].reshape((*each_of_w[:1], *ones[1:])))
    plain = convolved(elements, filters, group, windows, bias)
    quotient = in_steps(scaled, plain, *by_feature, y_scale.reshape(()), working)
    if B is not None:
        most = prod(w.shape[1:]) * GREATEST_PRODUCT + np.abs(B.array.astype(np.float64))
        quotient = _beyond_sums(quotient, most.reshape((*most.shape, *ones[1:])))
    return quantised(quotient, y_zero_point, ties=ties_of_steps)
