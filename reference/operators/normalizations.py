"""Normalizations of layers, instances and groups, and along axes: differences from means by deviations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Annotated

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import OutputCount
from reference.registry import reference_operator
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
SMALL = Fraction(float(np.float32(1e-9)))
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
