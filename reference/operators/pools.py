"""AveragePool and GlobalAveragePool: means of windows."""

from __future__ import annotations

from math import prod

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator
from reference.shared.windows import Ints, slide
from reference.sums.summation import mean_of, total


@reference_operator("ai.onnx::AveragePool")
def average_pool(
    X: Numbers,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Ints = None,
    kernel_shape: tuple[int, ...],
    pads: Ints = None,
    strides: Ints = None,
) -> Numbers:
    """The mean of each window; padding is left out, or counts as zeros.

    What a window covers behind the padding never counts. Source: AveragePool, Summary, Examples
    (averagepool_3d_dilations_large_3, whose node test has that divisor).
    """
    windows = slide(
        X.shape[2:], kernel_shape, strides=strides, pads=pads, dilations=dilations,
        auto_pad=auto_pad, ceil_mode=ceil_mode,
    )  # fmt: skip
    counted = windows.padded if count_include_pad else windows.inside
    means = mean_of(total(windows.gather(X), -1), np.count_nonzero(counted, axis=-1))
    return means.reshape((*X.shape[:2], *windows.lengths))


@reference_operator("ai.onnx::GlobalAveragePool")
def global_average_pool(X: Numbers) -> Numbers:
    """The mean of all elements of a channel. Source: GlobalAveragePool, Summary."""
    return mean_of(total(X, tuple(range(2, X.ndim)), keepdims=True), prod(X.shape[2:]))
