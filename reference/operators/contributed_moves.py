"""Operators of com.microsoft that move, pick or turn elements: most read as ai.onnx's of the same name."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.numbers.number_arrays import Numbers
from reference.operators.kept_elements import triangle, unique
from reference.operators.rotary_embeddings import rotary_embedding
from reference.operators.shape_changes import unsqueeze
from reference.registry import reference_operator
from reference.shared.movement import NegativeZeros, Subnormals


@reference_operator("com.microsoft::Trilu")
def upper_or_lower_triangle(X: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """As ai.onnx Trilu. Source: Trilu, Summary."""
    return triangle(X, k, upper=upper)


@reference_operator("com.microsoft::ExpandDims")
def with_one_more_axis(X: Tensor, axis: int) -> Tensor:
    """X with an axis of length 1 at that place of the output. Source: ExpandDims, axis."""
    return unsqueeze(X, (axis,))


@reference_operator("com.microsoft::Unique")
def unique_by_occurrence(
    x: Tensor, *, subnormals: Subnormals, negative_zeros: NegativeZeros
) -> tuple[Answer, ...]:
    """As ai.onnx Unique of a flat tensor that is not sorted, without the places of first occurrences.

    Source: Unique, Summary, idx, counts.
    """
    values, _, places, counts = unique(x, sorted=0, subnormals=subnormals, negative_zeros=negative_zeros)
    return values, places, counts


@reference_operator("com.microsoft::NGramRepeatBlock")
def scores_without_repeated_ngrams(input_ids: Tensor, scores: Tensor, *, ngram_size: int) -> Tensor:
    """Minus infinity for each token that would end an n-gram that the sequence has already.

    Source: NGramRepeatBlock, Summary.
    """
    found = np.array(scores.array)
    for row, tokens in enumerate(input_ids.array.tolist()):
        last = tokens[len(tokens) - ngram_size + 1 :]
        for start in range(len(tokens) - ngram_size + 1):
            if tokens[start : start + ngram_size - 1] == last:
                found[row, tokens[start + ngram_size - 1]] = -np.inf
    return Tensor(scores.element_type, found)


@reference_operator("com.microsoft::RotaryEmbedding")
def rotary_embedding_by_positions(
    input: Numbers,
    position_ids: Tensor,
    cos_cache: Numbers,
    sin_cache: Numbers,
    *,
    interleaved: int = 0,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: int = 1,
) -> Numbers:
    """As ai.onnx RotaryEmbedding; one position is that of the first token, and heads follow from the cache.

    Source: RotaryEmbedding, Summary, input, position_ids, cos_cache.
    """
    batch, tokens = input.shape[0], input.shape[-2]
    places = position_ids.array
    if places.ndim == 1:
        places = np.broadcast_to(places[0] + np.arange(tokens), (batch, tokens))
    positions = Tensor(ELEMENT_TYPES["int64"], np.ascontiguousarray(places))
    heads = num_heads or input.shape[-1] // (2 * cos_cache.shape[1])
    return rotary_embedding(
        input, cos_cache, sin_cache, positions,
        interleaved=interleaved, num_heads=heads, rotary_embedding_dim=rotary_embedding_dim,
    )  # fmt: skip
