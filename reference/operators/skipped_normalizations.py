"""SkipLayerNormalization and its simplified form: rows that went around are added, then normalized."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.operators.normalizations import layer_normalization
from reference.readings.choices import OutputCount
from reference.registry import reference_operator
from reference.shared.standardization import Variance, cast, cast_back, overflowed, stashed
from reference.sums.summation import mean_of, total_of_products

EPSILON = Fraction(float(np.float32(1e-12)))
"""What is added where nothing is said, a float."""
FLOAT = 1


@reference_operator("com.microsoft::SkipLayerNormalization")
def skip_layer_normalization(
    input: Numbers,
    skip: Numbers,
    gamma: Numbers,
    beta: Numbers | None = None,
    bias: Numbers | None = None,
    *,
    epsilon: Fraction = EPSILON,
    outputs: Annotated[int, OutputCount],
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """LayerNormalization of input + skip + bias along the last axis, and that sum.

    Source: SkipLayerNormalization, Summary, skip, bias, input_skip_bias_sum.
    """
    added = input + skip if bias is None else input + skip + bias
    normalized = layer_normalization(
        added, gamma, beta, epsilon=epsilon, stash_type=FLOAT, outputs=3,
        body_arithmetic=body_arithmetic, intermediate_overflow=intermediate_overflow,
    )  # fmt: skip
    return (*normalized, added)[:outputs]


@reference_operator("com.microsoft::SkipSimplifiedLayerNormalization")
def skip_root_mean_square_normalization(
    input: Numbers,
    skip: Numbers,
    gamma: Tensor,
    bias: Numbers | None = None,
    *,
    epsilon: Fraction = EPSILON,
    outputs: Annotated[int, OutputCount],
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """X / sqrt(mean of X squared + epsilon) * gamma of X = input + skip + bias, that root's inverse, and X.

    Source: SkipSimplifiedLayerNormalization, Summary, skip, bias, input_skip_bias_sum.
    """
    added = input + skip if bias is None else input + skip + bias
    rows = cast(added, stashed(FLOAT))
    root = (mean_of(total_of_products(rows, rows, -1, keepdims=True), rows.shape[-1]) + epsilon).sqrt()
    scaled = cast_back(rows / root, added.working) * Numbers.of(gamma, added.working)
    normalized = overflowed(scaled, root, intermediate_overflow)
    inverse = overflowed(root.lift(1) / root, root, intermediate_overflow)
    return (normalized, root.lift(0).broadcast(root.shape), inverse, added)[:outputs]
