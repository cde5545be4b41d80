"""LRN and GRN: elements divided by a power of the squares of channels around them, or of all."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from reference.functions.powers import SpecialPowers, power_of
from reference.functions.stable_formulas import Overflow, whichever
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading
from reference.registry import reference_operator
from reference.shared.standardization import overflowed
from reference.sums.summation import mean_of, total_of_products


@reference_operator("ai.onnx::LRN")
def local_response_normalization(
    X: Numbers,
    *,
    alpha: Fraction = Fraction("0.0001"),
    beta: Fraction = Fraction("0.75"),
    bias: Fraction = Fraction(1),
    size: int,
    special_powers: Annotated[SpecialPowers, AsReading],
    intermediate_overflow: Overflow,
) -> Numbers:
    """Y = X / (bias + alpha / size * square_sum) ^ beta, the sum over `size` channels around each.

    Source: LRN, Summary.
    """
    channels = X.shape[1]
    before, after = (size - 1) // 2, size // 2
    columns = np.arange(max(-before, -channels), min(after, channels) + 1) + np.arange(channels)[:, None]
    inside = (columns >= 0) & (columns < channels)
    rows = X.reshape((*X.shape[:2], -1)) if X.error.size else X.reshape((*X.shape[:2], 0))
    region = rows.arranged(lambda each: each[:, np.where(inside, columns, 0)])
    region = region.where(np.broadcast_to(inside[..., None], region.shape), 0)
    squares = total_of_products(region, region, 2).reshape(X.shape)
    share = whichever(squares * (X.held(alpha) / size), lambda: mean_of(squares, size) * alpha)
    power = power_of(share + bias, X.held(beta), special_powers)
    return overflowed(X / power, power, intermediate_overflow)


@reference_operator("org.openvino::GRN")
def global_response_normalization(
    data: Numbers, *, bias: Fraction, intermediate_overflow: Overflow
) -> Numbers:
    """x / sqrt(sum of the squares of all channels + bias). Source: GRN, Detailed description."""
    root = (total_of_products(data, data, 1, keepdims=True) + bias).sqrt()
    return overflowed(data / root, root, intermediate_overflow)
