"""BatchNormalization: channels by statistics that are given, or by their own, averaged with those."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Annotated

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.operators.normalizations import EPSILON
from reference.readings.choices import OutputCount
from reference.registry import reference_operator
from reference.shared.standardization import Standardized, Variance, affine, overflowed

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
