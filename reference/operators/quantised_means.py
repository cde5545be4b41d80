"""QLinear operators of com.microsoft that take means of numbers in steps of a scale."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.operators.pools import average_pool, global_average_pool
from reference.operators.quantised_elements import rescaled, zero_of
from reference.operators.quantised_products import TiesOfSteps, apart, of_exact_sums, quantised
from reference.operators.reductions import reduce_mean
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.shared.windows import Ints


def _channels_second(given: Numbers) -> Numbers:
    """With the last axis behind the first."""
    return given.arranged(lambda each: np.moveaxis(each, -1, 1))


def _channels_last(given: Numbers) -> Numbers:
    return given.arranged(lambda each: np.moveaxis(each, 1, -1))


@reference_operator("com.microsoft::QLinearAveragePool")
def quantised_average_pool(
    X: Tensor,
    x_scale: Numbers,
    y_scale: Numbers,
    x_zero_point: Tensor | None = None,
    y_zero_point: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    channels_last: int = 0,
    count_include_pad: int = 0,
    kernel_shape: tuple[int, ...],
    pads: Ints = None,
    strides: Ints = None,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """Dequantize, AveragePool, Quantize; padding is zero among the real numbers. Source: its Summary."""

    def pooled(given: Numbers) -> Numbers:
        found = average_pool(
            _channels_second(given) if channels_last else given,
            auto_pad=auto_pad, ceil_mode=ceil_mode, count_include_pad=count_include_pad,
            kernel_shape=kernel_shape, pads=pads, strides=strides,
        )  # fmt: skip
        return _channels_last(found) if channels_last else found

    steps = apart(X, x_zero_point, x_scale)
    found = whichever(pooled(steps * x_scale) / y_scale, lambda: rescaled(pooled(steps), x_scale, y_scale))
    return quantised(of_exact_sums(found), zero_of(y_zero_point, X), ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearGlobalAveragePool")
def quantised_global_average_pool(
    X: Tensor,
    x_scale: Numbers,
    x_zero_point: Tensor,
    y_scale: Numbers,
    y_zero_point: Tensor,
    *,
    channels_last: int = 0,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """The mean of each channel. Source: QLinearGlobalAveragePool, Summary, X."""

    def pooled(given: Numbers) -> Numbers:
        found = global_average_pool(_channels_second(given) if channels_last else given)
        return _channels_last(found) if channels_last else found

    steps = apart(X, x_zero_point, x_scale)
    found = whichever(pooled(steps * x_scale) / y_scale, lambda: rescaled(pooled(steps), x_scale, y_scale))
    return quantised(of_exact_sums(found), y_zero_point, ties=ties_of_steps)


@reference_operator("com.microsoft::QLinearReduceMean")
def quantised_reduce_mean(
    data: Tensor,
    data_scale: Numbers,
    reduced_scale: Numbers,
    data_zero_point: Tensor | None = None,
    reduced_zero_point: Tensor | None = None,
    *,
    axes: tuple[int, ...],
    keepdims: int,
    ties_of_steps: TiesOfSteps,
) -> Answer:
    """Dequantize, ReduceMean, Quantize. Source: QLinearReduceMean, Summary."""

    def mean(given: Numbers) -> Numbers:
        return reduce_mean(given, axes, keepdims=keepdims, integer_conversion=Choice("truncate"))

    steps = apart(data, data_zero_point, data_scale)
    found = whichever(
        mean(steps * data_scale) / reduced_scale,
        lambda: rescaled(mean(steps), data_scale, reduced_scale),
    )
    return quantised(of_exact_sums(found), zero_of(reduced_zero_point, data), ties=ties_of_steps)
