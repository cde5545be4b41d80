"""QLinear operators of com.microsoft that work element by element, each on numbers in steps of a scale."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.functions.stable_formulas import logistic, whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.stacks import beside
from reference.numbers.working import Floats, bounded_apart, requantisation
from reference.operators.quantised_products import (
    BY_ONE_FACTOR,
    TiesOfSteps,
    apart,
    of_exact_sums,
    off_by_multiplier,
    quantised,
    requantised,
    share_of_multiplier,
)
from reference.operators.rectifiers import leaky
from reference.operators.softmaxes import softmax
from reference.registry import reference_operator
from reference.shared.single_precision import held_float

LEAKAGE = held_float(0.01)
"""The alpha of QLinearLeakyRelu where none is given, a float."""
_LEFT_SHIFT = 20


def zero_of(given: Tensor | None, like: Tensor) -> Tensor:
    """The zero point, 0 where none is given."""
    return Tensor(like.element_type, np.zeros((), dtype=like.array.dtype)) if given is None else given


def rescaled(steps: Numbers, scale: Numbers, new_scale: Numbers) -> Numbers:
    """Steps of one scale in steps of another: times the one, divided by the other, in any order."""
    scale, new_scale = scale.reshape(()), new_scale.reshape(())
    return requantised(steps * scale, steps, scale, scale.lift(1), new_scale, steps.working)


@reference_operator("com.microsoft::QLinearAdd")
def quantised_sum(
    A: Tensor,
    A_scale: Numbers,
    B: Tensor,
    B_scale: Numbers,
    C_scale: Numbers,
    A_zero_point: Tensor | None = None,
    B_zero_point: Tensor | None = None,
    C_zero_point: Tensor | None = None,
    *,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """(A_scale (A - A_zero_point) + B_scale (B - B_zero_point)) / C_scale + C_zero_point.

    A program may multiply out what zero points come to. Source: QLinearAdd, Summary.
    """
    first, second = apart(A, A_zero_point, A_scale), apart(B, B_zero_point, B_scale)
    zero = zero_of(C_zero_point, A)
    ratios = A_scale / C_scale, B_scale / C_scale

    def multiplied_out() -> Numbers:
        zeros = [apart(zero_of(given, A), None, C_scale) for given in (A_zero_point, B_zero_point, zero)]
        fixed = zeros[2] - (ratios[0] * zeros[0] + ratios[1] * zeros[1])
        return apart(A, None, A_scale) * ratios[0] + (apart(B, None, B_scale) * ratios[1] + fixed)

    quotient = whichever(
        (first * A_scale + second * B_scale) / C_scale,
        lambda: first * ratios[0] + second * ratios[1],
        multiplied_out,
    )
    quotient = of_exact_sums(quotient, lambda: _off_by_three_multipliers((first, second), ratios))
    return quantised(quotient, zero, ties=ties_of_steps)


def _off_by_three_multipliers(operands: Sequence[Numbers], ratios: Sequence[Numbers]) -> Floats:
    """How far the sum of operands times ratios, in steps, may come to lie off in fixed point.

    Operands are shifted to the left by 20 bits and brought to twice the greater scale, which rounds each of
    them twice by half of 2^-20 of that; the sum is brought to steps, with as much before its last shift.
    Source: gemmlowp's quantised addition, as TensorFlow Lite and CMSIS-NN have it.
    """
    greatest = np.maximum(*(np.abs(ratio.value.floats()) for ratio in ratios))
    found = np.asarray(3 * np.ldexp(2 * greatest, -_LEFT_SHIFT))
    for operand, ratio in zip(operands, ratios, strict=True):
        found = found + 2 * share_of_multiplier(ratio) * np.abs((operand * ratio).value.floats())
    return found


@reference_operator("com.microsoft::QLinearMul")
def quantised_product(
    A: Tensor,
    A_scale: Numbers,
    B: Tensor,
    B_scale: Numbers,
    C_scale: Numbers,
    A_zero_point: Tensor | None = None,
    B_zero_point: Tensor | None = None,
    C_zero_point: Tensor | None = None,
    *,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """(A - A_zero_point) (B - B_zero_point) (A_scale B_scale) / C_scale + C_zero_point.

    Source: QLinearMul, Summary.
    """
    first, second = apart(A, A_zero_point, A_scale), apart(B, B_zero_point, B_scale)
    scaled = (first * A_scale) * (second * B_scale)
    quotient = requantised(scaled, first * second, A_scale, B_scale, C_scale, A_scale.working)
    return quantised(quotient, zero_of(C_zero_point, A), ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearSigmoid")
def quantised_sigmoid(
    X: Tensor,
    X_scale: Numbers,
    Y_scale: Numbers,
    X_zero_point: Tensor | None = None,
    Y_zero_point: Tensor | None = None,
    *,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """quantize(1 / (1 + exp(-dequantize(x)))). Source: QLinearSigmoid, Summary."""
    found = logistic(apart(X, X_zero_point, X_scale) * X_scale)
    return quantised(found / Y_scale, zero_of(Y_zero_point, X), ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearLeakyRelu")
def quantised_leaky(
    X: Tensor,
    X_scale: Numbers,
    Y_scale: Numbers,
    X_zero_point: Tensor | None = None,
    Y_zero_point: Tensor | None = None,
    *,
    alpha: Fraction = LEAKAGE,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """quantize(alpha dequantize(x)) below 0, quantize(dequantize(x)) elsewhere. Source: its Summary."""
    steps = apart(X, X_zero_point, X_scale)
    found = leaky(steps * X_scale, alpha=alpha) / Y_scale

    def in_fixed_point() -> Floats:
        above = X_scale / Y_scale
        return off_by_multiplier(found, (above * alpha).broadcast(found.shape).where(steps.sign < 0, above))

    return quantised(of_exact_sums(found, in_fixed_point), zero_of(Y_zero_point, X), ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearSoftmax")
def quantised_softmax(
    X: Tensor,
    X_scale: Numbers,
    y_scale: Numbers,
    y_zero_point: Tensor,
    x_zero_point: Tensor | None = None,
    *,
    axis: int = -1,
    opset: int,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """Exp(x) / ReduceSum(Exp(x)) along the axis; before opset 13 of a matrix split there.

    Source: QLinearSoftmax, Summary, opset.
    """
    if requantisation() == "fixed-point":
        bounded_apart(BY_ONE_FACTOR)
    shares = softmax(apart(X, x_zero_point, X_scale) * X_scale, axis=axis, version=opset)
    return quantised(shares / y_scale, y_zero_point, ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearWhere")
def quantised_choice(
    condition: Tensor,
    X: Tensor,
    x_scale: Numbers,
    x_zero_point: Tensor,
    Y: Tensor,
    y_scale: Numbers,
    y_zero_point: Tensor,
    z_scale: Numbers,
    z_zero_point: Tensor,
    *,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """X where the condition holds, else Y, in steps of z_scale. Source: QLinearWhere, Summary, condition."""
    chosen = rescaled(apart(X, x_zero_point, x_scale), x_scale, z_scale)
    others = rescaled(apart(Y, y_zero_point, y_scale), y_scale, z_scale)
    shape = np.broadcast_shapes(condition.shape, X.shape, Y.shape)
    mask = np.broadcast_to(condition.array.astype(np.bool_), shape)
    found = chosen.broadcast(shape).where(mask, others.broadcast(shape))
    return quantised(found, z_zero_point, ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearConcat")
def quantised_concatenation(
    Y_scale: Numbers,
    Y_zero_point: Tensor,
    inputs: tuple[Tensor, ...],
    *,
    axis: int,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """Tensors one after the other along an axis, each with its scale and zero point, in steps of Y_scale.

    Source: QLinearConcat, Summary, inputs.
    """
    parts = []
    for tensor, scale, zero_point in zip(inputs[::3], inputs[1::3], inputs[2::3], strict=True):
        own = Numbers.of(scale, Y_scale.working).reshape(())
        part = rescaled(apart(tensor, zero_point, own), own, Y_scale)
        parts.append(part.arranged(lambda each: np.moveaxis(each, axis, -1)))
    joined = beside(*parts).arranged(lambda each: np.moveaxis(each, -1, axis))
    return quantised(joined, Y_zero_point, ties=ties_of_steps)
