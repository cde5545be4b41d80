"""Normalizations of layers, instances and groups, and along axes: differences from means by deviations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Annotated

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import OutputCount
from reference.registry import reference_operator
from reference.shared.single_precision import held_float
from reference.shared.standardization import (
    Standardized,
    Variance,
    affine,
    cast,
    cast_back,
    overflowed,
    stashed,
)
from reference.sums.summation import mean_of, total_of_products

EPSILON = Fraction("0.00001")
CHANNELS = (0, 2, 3)
"""The axes by default, which leave the channels."""
SMALL = held_float(1e-9)
"""What ONNX's function body adds to the deviation of MeanVarianceNormalization."""


@reference_operator("ai.onnx::LayerNormalization")
def layer_normalization(
    X: Numbers,
    Scale: Numbers,
    B: Numbers | None = None,
    *,
    axis: int = -1,
    epsilon: Fraction = EPSILON,
    stash_type: int = 1,
    outputs: Annotated[int, OutputCount],
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """D / Sqrt(ReduceMean(D * D) + epsilon) * Scale + B with D = X - ReduceMean(X), along the last axes.

    Source: LayerNormalization, Summary, axis, stash_type.
    """
    at = axis % X.ndim
    rows = cast(X, stashed(stash_type)).reshape((prod(X.shape[:at]), prod(X.shape[at:])))
    found = Standardized.of(rows, body_arithmetic)
    deviation = found.deviation(epsilon)
    normalized = (found.apart / deviation).reshape(X.shape)
    scaled = cast_back(normalized, X.working) * Scale
    inverse = overflowed(deviation.lift(1) / deviation, deviation, intermediate_overflow)
    kept = (*X.shape[:at], *(1 for _ in X.shape[at:]))
    shifted, nothing = (scaled, 0) if B is None else (scaled + B, B)
    normalized = overflowed(shifted, deviation.reshape(kept), intermediate_overflow, nothing)
    return (normalized, found.mean.reshape(kept), inverse.reshape(kept))[:outputs]


@reference_operator("ai.onnx::RMSNormalization")
def root_mean_square_normalization(
    X: Numbers,
    scale: Tensor,
    *,
    axis: int = -1,
    epsilon: Fraction = EPSILON,
    stash_type: int = 1,
    intermediate_overflow: Overflow,
) -> Numbers:
    """X / Sqrt(ReduceMean(X * X) + epsilon) * Scale along the last axes.

    Source: RMSNormalization, Summary, axis, stash_type.
    """
    at = axis % X.ndim
    rows = cast(X, stashed(stash_type)).reshape((prod(X.shape[:at]), prod(X.shape[at:])))
    squares = mean_of(total_of_products(rows, rows, -1, keepdims=True), rows.shape[-1])
    root = (squares + epsilon).sqrt()
    normalized = cast_back((rows / root).reshape(X.shape), X.working)
    scaling = Numbers.of(scale, replace(X.working, element_type=scale.element_type))
    kept = (*X.shape[:at], *(1 for _ in X.shape[at:]))
    scaled = cast_back(normalized, scaling.working) * scaling
    return overflowed(scaled, root.reshape(kept), intermediate_overflow)


@reference_operator("ai.onnx::InstanceNormalization")
def instance_normalization(
    input: Numbers,
    scale: Numbers,
    B: Numbers,
    *,
    epsilon: Fraction = EPSILON,
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> Numbers:
    """scale * (x - mean) / sqrt(variance + epsilon) + B, of each instance and channel.

    Source: InstanceNormalization, Summary.
    """
    rows = input.reshape((*input.shape[:2], prod(input.shape[2:])))
    found = Standardized.of(rows, body_arithmetic)
    deviation = found.deviation(epsilon)
    slope, shift = (each.reshape((each.shape[0], 1)) for each in (scale, B))
    normalized = affine(rows, found.mean, deviation, slope, shift)
    return overflowed(normalized, deviation, intermediate_overflow, shift).reshape(input.shape)


@reference_operator("ai.onnx::GroupNormalization")
def group_normalization(
    X: Numbers,
    scale: Numbers,
    bias: Numbers,
    *,
    num_groups: int,
    epsilon: Fraction = EPSILON,
    stash_type: int = 1,
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> Numbers:
    """scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and variance of groups of channels.

    Source: GroupNormalization, Summary, num_groups, stash_type.
    """
    batch, channels = X.shape[:2]
    groups = (batch, num_groups, channels // num_groups, prod(X.shape[2:]))
    rows = cast(X, stashed(stash_type)).reshape((batch, num_groups, prod(groups[2:])))
    found = Standardized.of(rows, body_arithmetic)
    deviation, mean = (
        each.reshape((batch, num_groups, 1, 1)) for each in (found.deviation(epsilon), found.mean)
    )
    scaling, shift = (each.reshape((*groups[1:3], 1)) for each in (scale, bias))
    rows = rows.reshape(groups)
    if rows.working.element_type == X.working.element_type:
        normalized = affine(rows, mean, deviation, scaling, shift)
    else:
        normalized = cast_back((rows - mean) / deviation, X.working) * scaling + shift
    return overflowed(normalized, deviation, intermediate_overflow, shift).reshape(X.shape)


@reference_operator("ai.onnx::MeanVarianceNormalization")
def mean_variance_normalization(
    X: Numbers,
    *,
    axes: tuple[int, ...] | None = None,
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> Numbers:
    """(X - EX) / sqrt(E(X - EX)^2) along axes. Source: MeanVarianceNormalization, Summary, axes."""
    chosen = sorted({each % X.ndim for each in (CHANNELS if axes is None else axes)})
    order = [*(each for each in range(X.ndim) if each not in chosen), *chosen]
    moved = X.transposed(tuple(order))
    at = X.ndim - len(chosen)
    rows = moved.reshape((prod(moved.shape[:at]), prod(moved.shape[at:])))
    found = Standardized.of(rows, body_arithmetic)
    deviation = found.variance.sqrt()
    if body_arithmetic.ask() == "body":
        deviation = deviation + SMALL
    normalized = overflowed(found.apart / deviation, deviation, intermediate_overflow)
    return normalized.reshape(moved.shape).transposed(tuple(sorted(range(X.ndim), key=order.__getitem__)))


MOMENTUM = Fraction("0.9")


@reference_operator("ai.onnx::BatchNormalization")
def batch_normalization(
    X: Numbers,
    scale: Tensor,
    B: Tensor,
    input_mean: Tensor,
    input_var: Tensor,
    *,
    epsilon: Fraction = EPSILON,
    momentum: Fraction = MOMENTUM,
    training_mode: int = 0,
    outputs: Annotated[int, OutputCount],
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """(X - mean) / sqrt(var + epsilon) * scale + B; mean and var are given, or those of the channel.

    Source: BatchNormalization, Summary, momentum, training_mode.
    """
    rows = X.reshape((*X.shape[:2], prod(X.shape[2:])))
    scaling, shift, mean, var = (_column(each, X) for each in (scale, B, input_mean, input_var))
    running: tuple[Numbers, ...] = ()
    if training_mode:
        channels = rows.transposed((1, 0, 2)).reshape((X.shape[1], X.shape[0] * rows.shape[2]))
        found = Standardized.of(channels, body_arithmetic)
        running = tuple(
            _averaged(old, new, momentum, kept)
            for old, new, kept in ((mean, found.mean, input_mean), (var, found.variance, input_var))
        )
        mean, var = found.mean, found.variance
    deviation = (var + epsilon).sqrt()
    output = overflowed(
        affine(rows, mean, deviation, scaling, shift), deviation, intermediate_overflow, shift
    )
    return (output.reshape(X.shape), *running)[:outputs]


@reference_operator("ai.onnx::BatchNormalization-9")
def batch_normalization_at_rest(
    X: Numbers,
    scale: Tensor,
    B: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: Fraction = EPSILON,
    momentum: Fraction = MOMENTUM,
    intermediate_overflow: Overflow,
) -> Numbers:
    """(X - mean) / sqrt(var + epsilon) * scale + B, the only output. Source: its Summary."""
    rows = X.reshape((*X.shape[:2], prod(X.shape[2:])))
    scaling, shift, middle, spread = (_column(each, X) for each in (scale, B, mean, var))
    deviation = (spread + epsilon).sqrt()
    output = overflowed(
        affine(rows, middle, deviation, scaling, shift), deviation, intermediate_overflow, shift
    )
    return output.reshape(X.shape)


@reference_operator("ai.onnx::BatchNormalization-7")
def batch_normalization_by_feature(
    X: Numbers,
    scale: Tensor,
    B: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: Fraction = EPSILON,
    momentum: Fraction = MOMENTUM,
    spatial: int = 1,
    intermediate_overflow: Overflow,
) -> Numbers:
    """As in the next version, or by statistics of each place of a channel. Source: spatial, its Inputs."""
    if spatial:
        return batch_normalization_at_rest(
            X, scale, B, mean, var, epsilon=epsilon, intermediate_overflow=intermediate_overflow
        )
    scaling, shift, middle, spread = (
        Numbers.of(each, X.working).rounded(1, exact=True) for each in (scale, B, mean, var)
    )
    deviation = (spread + epsilon).sqrt()
    return overflowed(affine(X, middle, deviation, scaling, shift), deviation, intermediate_overflow, shift)


def _column(given: Tensor, beside: Numbers) -> Numbers:
    """A number for each channel, in the arithmetic of the data: rounded where that is narrower."""
    return Numbers.of(given, beside.working).rounded(1, exact=True).reshape((*given.shape, 1))


def _averaged(old: Numbers, new: Numbers, momentum: Fraction, kept: Tensor) -> Numbers:
    """old * momentum + new * (1 - momentum), one of each channel, in a type of its own."""
    found = old * momentum + new * (old.lift(1) - old.held(momentum))
    working = replace(found.working, element_type=kept.element_type)
    return replace(found, working=working).reshape(kept.shape)
