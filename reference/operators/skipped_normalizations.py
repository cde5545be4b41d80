"""Normalizations of ONNX Runtime: rows that went around are added first, activations follow."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import held, opened
from reference.operators.exponential_units import swish
from reference.operators.normalizations import group_normalization, layer_normalization
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.single_precision import held_float
from reference.shared.standardization import Variance, cast, cast_back, overflowed, stashed
from reference.sums.summation import mean_of, total_of_products

EPSILON = held_float(1e-12)
"""What is added where nothing is said, a float."""
SMALL = held_float(1e-5)
"""The same of groups, and of what is no layer of its own."""
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


@reference_operator("ai.onnx::SimplifiedLayerNormalization")
def simplified_layer_normalization(
    X: Numbers,
    scale: Tensor,
    *,
    axis: int = -1,
    epsilon: Fraction = SMALL,
    stash_type: int = FLOAT,
    outputs: Annotated[int, OutputCount],
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """X / sqrt(mean of X squared + epsilon) * scale along the last axes, and that root's inverse.

    No sentence says it: it is read as RMSNormalization, whose names these are. The inverse has the type
    `stash_type`; what comes before it may have that type, or that of X, and no fewer bits than float.
    Source: SimplifiedLayerNormalization, axis, epsilon, stash_type, inv_std_var; RMSNormalization, Summary.
    """
    at, stash = axis % X.ndim, stashed(stash_type)
    rows = _no_finer(X, stash).reshape((prod(X.shape[:at]), prod(X.shape[at:])))
    root = (mean_of(total_of_products(rows, rows, -1, keepdims=True), rows.shape[-1]) + epsilon).sqrt()
    kept = (*X.shape[:at], *(1 for _ in X.shape[at:]))
    scaling = Numbers.of(scale, replace(X.working, element_type=scale.element_type))
    scaled = cast_back((rows / root).reshape(X.shape), scaling.working) * scaling
    normalized = overflowed(scaled, root.reshape(kept), intermediate_overflow)
    inverse = cast_back(
        overflowed(root.lift(1) / root, root, intermediate_overflow), replace(X.working, element_type=stash)
    )
    return (normalized, inverse.reshape(kept))[:outputs]


def _no_finer(X: Numbers, stash: ElementType) -> Numbers:
    """Numbers in float, or in double where they have that type and the stash as well."""
    own, single = X.working.element_type, ELEMENT_TYPES["float"]
    coarse = replace(X.working, element_type=own if own == stash else single)
    with np.errstate(over="ignore"):
        beyond = np.abs(X.value.floats()) > coarse.greatest
        moved = held(X, coarse)
    # A program that goes on in double holds them.
    return opened(moved, beyond & X.finite) if beyond.any() else moved


@reference_operator("com.microsoft::GroupNorm")
def activated_group_normalization(
    X: Numbers,
    gamma: Tensor,
    beta: Tensor,
    *,
    groups: int,
    activation: int,
    channels_last: int = 1,
    epsilon: Fraction = SMALL,
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> Numbers:
    """GroupNormalization of channels that lie first or last, and x * Sigmoid(x) of it where asked.

    Source: GroupNorm, Summary, activation, channels_last.
    """
    rows = X.transposed((0, 3, 1, 2)) if channels_last else X
    scale, shift = (Numbers.of(each, X.working) for each in (gamma, beta))
    found = group_normalization(
        rows, scale, shift, num_groups=groups, epsilon=epsilon,
        body_arithmetic=body_arithmetic, intermediate_overflow=intermediate_overflow,
    )  # fmt: skip
    found = found.transposed((0, 2, 3, 1)) if channels_last else found
    return swish(found, infinity_in_formula=Choice("nan")) if activation else found


@reference_operator("com.microsoft::SkipGroupNorm")
def skip_group_normalization(
    X: Numbers,
    gamma: Tensor,
    beta: Tensor,
    skip: Numbers,
    bias: Numbers | None = None,
    *,
    groups: int,
    activation: int,
    channels_last: int = 1,
    epsilon: Fraction = SMALL,
    outputs: Annotated[int, OutputCount],
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """GroupNorm of X + skip + bias, and that sum; skip may be one for all places of an image.

    Source: SkipGroupNorm, Summary, skip, bias, S.
    """
    batch, channels = skip.shape[0], gamma.shape[0]
    spread = skip if skip.ndim == 4 else skip.reshape((batch, 1, 1, channels))
    added = X + spread
    if bias is not None:
        added = added + (bias if channels_last else bias.reshape((channels, 1, 1)))
    found = activated_group_normalization(
        added, gamma, beta, groups=groups, activation=activation, channels_last=channels_last,
        epsilon=epsilon, body_arithmetic=body_arithmetic, intermediate_overflow=intermediate_overflow,
    )  # fmt: skip
    return (found, added)[:outputs]


@reference_operator("com.microsoft::EmbedLayerNormalization")
def embedding_layer_normalization(
    input_ids: Tensor,
    segment_ids: Tensor | None = None,
    word_embedding: Numbers | None = None,
    position_embedding: Numbers | None = None,
    segment_embedding: Numbers | None = None,
    gamma: Numbers | None = None,
    beta: Numbers | None = None,
    mask: Tensor | None = None,
    position_ids: Tensor | None = None,
    *,
    epsilon: Fraction = EPSILON,
    mask_index_type: int = 1,
    outputs: Annotated[int, OutputCount],
    words_of_a_mask: Annotated[Choice[Literal["first_zero", "count"]], AsReading],
    parts_of_the_sum: Annotated[Choice[Literal["all", "two"]], AsReading],
    body_arithmetic: Variance,
    intermediate_overflow: Overflow,
) -> tuple[Numbers | Tensor, ...]:
    """LayerNormalization of the rows of words, positions and segments; how many words a mask has; the sum.

    Source: EmbedLayerNormalization, Summary, mask, position_ids, mask_index, embedding_sum.
    """
    assert word_embedding is not None, "it is required"
    assert position_embedding is not None, "it is required"
    assert gamma is not None, "it is required"
    length = input_ids.shape[1]
    at = np.arange(length)[None] if position_ids is None else position_ids.array
    two = _rows(word_embedding, input_ids.array) + _rows(position_embedding, at)
    added = two
    if segment_ids is not None and segment_embedding is not None:
        added = two + _rows(segment_embedding, segment_ids.array)
    (normalized,) = layer_normalization(
        added, gamma, beta, epsilon=epsilon, stash_type=FLOAT, outputs=1,
        body_arithmetic=body_arithmetic, intermediate_overflow=intermediate_overflow,
    )  # fmt: skip
    if outputs == 1:
        return (normalized,)
    counted = _words(input_ids, mask, words_of_a_mask)
    if outputs == 2 or added is two or parts_of_the_sum.ask() == "all":
        return (normalized, counted, added)[:outputs]
    return normalized, counted, two


def _rows(table: Numbers, places: NDArray[np.integer]) -> Numbers:
    return table.arranged(lambda each: each[places])


def _words(ids: Tensor, mask: Tensor | None, counted: Choice[Literal["first_zero", "count"]]) -> Tensor:
    """How many words each sequence has by its mask; none without one."""
    kept = np.zeros(ids.shape, dtype=np.bool_) if mask is None else mask.array != 0
    count = np.count_nonzero(kept, axis=1)
    first = np.where(kept.all(axis=1), kept.shape[1], np.argmin(kept, axis=1)) if kept.shape[1] else count
    found = count if (count != first).any() and counted.ask() == "count" else first
    return Tensor(ids.element_type, found.astype(ids.array.dtype))
