"""QLinearMatMul and QLinearConv: products of quantised numbers, quantised anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.orders import whole
from reference.answers.quantised import InfinityToFnuz, as_integers, as_narrow_floats
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import held, opened
from reference.numbers.working import (
    Floats,
    Mask,
    Working,
    bounded_apart,
    power_below,
    requantisation,
    rounded_up,
)
from reference.operators.convolutions import convolved
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.windows import Ints, slide
from reference.sums.products import product_of_matrices

TiesOfSteps = Annotated[Choice[Literal["even", "either"]], AsReading]
StepsOfFloats = Annotated[Choice[Literal["type", "whole"]], AsReading]
BY_ONE_FACTOR = "fixed point is bounded for sums that factors multiply, and not for shares or means"
GREATEST_SUM = (1 << 31) - 1
"""Sums are of 32 bits: what a greater one becomes is open."""
GREATEST_PRODUCT = 255 * 255
_A_LITTLE = math.ldexp(1.0, -40)
_OF_MULTIPLIER = math.ldexp(1.0 + math.ldexp(1.0, -20), -31)
"""By what share a multiplier of 31 bits differs from its factor: half a last bit, and double's roundings."""


def distance(given: Tensor, zero_point: Numbers, working: Working) -> Numbers:
    """How far elements are from their zero point, exact as far as float32 holds it."""
    return Numbers.of(given, working) - zero_point


def apart(given: Tensor, zero_point: Tensor | None, scale: Numbers) -> Numbers:
    """The same, of one zero point for all or one for each column, and of 0 where none is given."""
    if zero_point is None:
        return Numbers.of(given, scale.working)
    zeros = Numbers.of(zero_point, scale.working)
    return distance(given, zeros.reshape(()) if zero_point.array.size == 1 else zeros, scale.working)


def accumulating(working: Working) -> Working:
    """The arithmetic that sums of distances are added up in: none of fewer bits than float32 has."""
    return replace(working, element_type=ELEMENT_TYPES["float"])


def in_steps(
    scaled: Numbers, plain: Numbers, first: Numbers, second: Numbers, step: Numbers, precise: Working
) -> Numbers:
    """A sum in steps of the output: `scaled`, of numbers that were scaled one by one, divided by the step; or
    the sum `plain` of their distances times both scales and the reciprocal of the step, in any order.
    """

    def at_once() -> Numbers:
        factor = whichever((first * second) / step, lambda: first * (second / step))
        # Other orders round as often, each time by at most twice what is charged here.
        return replace(plain, working=precise) * replace(factor, error=2 * factor.error)

    return whichever(scaled / step, at_once)


def of_exact_sums(found: Numbers, in_fixed_point: Callable[[], Floats] | None = None) -> Numbers:
    """What a program in float32 comes to, or what comes of exact sums as the arithmetic has it: exactly that,
    or off by what programs `in_fixed_point` are, of which nothing is derived where it is None.
    """
    how = requantisation()
    if how == "fixed-point" and in_fixed_point is None:
        bounded_apart(BY_ONE_FACTOR)
    if how == "exact":
        error = np.zeros(found.shape)
    elif how == "fixed-point" and in_fixed_point is not None:
        error = rounded_up(in_fixed_point())
    else:
        return found
    return replace(found, error=error, lost=np.zeros(found.shape, dtype=np.bool_))


def requantised(
    scaled: Numbers, plain: Numbers, first: Numbers, second: Numbers, step: Numbers, precise: Working
) -> Numbers:
    """The same as `in_steps`, of what is quantised next."""
    found = in_steps(scaled, plain, first, second, step, precise)
    return of_exact_sums(found, lambda: off_by_multiplier(found, (first * second) / step))


def off_by_multiplier(quotient: Numbers, factor: Numbers) -> Floats:
    """How far an exact sum may come to lie off that is multiplied by m 2^e, m of 31 bits from 1/2 up to 1.

    The multiplier may come of a factor in float32, in any order. The upper half of the doubled product is
    rounded to a whole number, of 2^e steps, and that again where it is shifted, which e below 0 is: half of
    2^e, the greatest power of two that is not above the factor. Source: gemmlowp's
    SaturatingRoundingDoublingHighMul and RoundingDivideByPOT.
    """
    size, share = np.abs(factor.value.floats()), share_of_multiplier(factor)
    before_shift = np.where(size < 0.5, np.minimum(power_below(size * (1 + share)), 0.25), 0.0)
    return np.asarray(before_shift + share * np.abs(quotient.value.floats()))


def share_of_multiplier(factor: Numbers) -> Floats:
    """By what share of it a multiplier of 31 bits differs from the factor that it stands for."""
    size = np.abs(factor.value.floats())
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0, 2 * factor.error / size, 0.0) + _OF_MULTIPLIER


def halves(quotient: Numbers) -> Mask:
    """Where a number lies half-way between two integers, and no rounding on the way moves it."""
    doubled = quotient.value.each(lambda top, bottom: 2 * top % bottom == 0 and top % bottom != 0, np.bool_)
    return np.asarray(np.broadcast_to(doubled, quotient.shape) & quotient.finite & (quotient.error == 0))


def quantised(
    quotient: Numbers,
    zero_point: Tensor,
    *,
    ties: Choice[Literal["even", "either"]] | None = None,
    steps_of_floats: Choice[Literal["type", "whole"]] | None = None,
    infinity_to_fnuz: InfinityToFnuz | None = None,
) -> Answer:
    """saturate(quotient + zero point), the quotient rounded to nearest and halves to even.

    `ties` is asked where some lie half-way and no text says where these go; `steps_of_floats` where the
    output has a floating-point type.
    """
    kind = zero_point.element_type
    if kind.is_integer and requantisation() == "one-step":
        quotient = replace(quotient, error=np.maximum(quotient.error, 1 - _A_LITTLE))
    zeros = Numbers.of(zero_point, quotient.working).reshape(()).broadcast(quotient.shape)
    if kind.is_integer:
        if ties is not None and (half := halves(quotient)).any() and ties.ask() == "either":
            quotient = replace(quotient, error=np.where(half, _A_LITTLE, quotient.error))
        return as_integers(kind, quotient, zeros)
    if steps_of_floats is not None and steps_of_floats.ask() == "whole":
        quotient = whole(quotient, "half_even")
    return as_narrow_floats(kind, quotient + zeros, saturate=True, infinity_to_fnuz=infinity_to_fnuz)


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
    # To floats of 8 bits no multiplier of integers brings a sum.
    in_steps_of_y = requantised if y_zero_point.element_type.is_integer else in_steps
    quotient = in_steps_of_y(scaled, plain, row_scale, column_scale, y_scale.reshape(()), precise)
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
    quotient = requantised(scaled, plain, *by_feature, y_scale.reshape(()), working)
    if B is not None:
        most = prod(w.shape[1:]) * GREATEST_PRODUCT + np.abs(B.array.astype(np.float64))
        quotient = _beyond_sums(quotient, most.reshape((*most.shape, *ones[1:])))
    return quantised(quotient, y_zero_point, ties=ties_of_steps)
