"""RotaryEmbedding of ONNX and of com.microsoft: pairs of elements turned by the angles of their positions."""

from __future__ import annotations

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.numbers.number_arrays import Numbers
from reference.numbers.stacks import beside, stacked
from reference.registry import reference_operator


@reference_operator("ai.onnx::RotaryEmbedding")
def rotary_embedding(
    X: Numbers,
    cos_cache: Numbers,
    sin_cache: Numbers,
    position_ids: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int = 1,
    rotary_embedding_dim: int = 0,
) -> Numbers:
    """(cos x1 - sin x2, sin x1 + cos x2); x2 is next to x1, or half of the rotated elements behind it.

    Source: RotaryEmbedding, Summary, X, cos_cache, sin_cache, position_ids, rotary_embedding_dim.
    """
    heads = (*X.shape[:2], num_heads, X.shape[-1] // num_heads)
    tokens = X.transposed((0, 2, 1, 3)) if X.ndim == 4 else X.reshape(heads)
    width = rotary_embedding_dim or tokens.shape[3]
    cos, sin = (_rows(each, position_ids) for each in (cos_cache, sin_cache))
    half = width // 2
    pair = (slice(0, width, 2), slice(1, width, 2)) if interleaved else (slice(half), slice(half, width))
    x1, x2 = (_part(tokens, each) for each in pair)
    real, imaginary = cos * x1 - sin * x2, sin * x1 + cos * x2
    both = (
        stacked([real, imaginary]).reshape((*real.shape[:3], width))
        if interleaved
        else beside(real, imaginary)
    )
    found = beside(both, _part(tokens, slice(width, None)))
    return found.transposed((0, 2, 1, 3)) if X.ndim == 4 else found.reshape(X.shape)


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


def _part(tokens: Numbers, part: slice) -> Numbers:
    """Some elements of each head."""
    return tokens.arranged(lambda each: each[..., part])


def _rows(cache: Numbers, positions: Tensor | None) -> Numbers:
    """The row of each token, the same for all heads."""
    rows = cache if positions is None else cache.arranged(lambda each: each[positions.array])
    return rows.arranged(lambda each: each[:, :, None])
