"""GroupQueryAttention: a few heads of keys for many queries, kept in a cache, rotated on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.functions.functions import function_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import beside, parted
from reference.operators.attentions import VisibleKeys
from reference.operators.contributed_attentions import IN_ITS_TYPE, behind, by_their_heads
from reference.operators.rotary_embeddings import rotary_embedding
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.attention_weights import scaled_products, scaling, weighed, weights_of
from reference.shared.heads import GroupedHeads, heads_for_queries


@reference_operator("com.microsoft::GroupQueryAttention")
def group_query_attention(
    query: Numbers,
    key: Numbers | None = None,
    value: Numbers | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    seqlens_k: tuple[int, ...] = (),
    total_sequence_length: int = 0,
    cos_cache: Numbers | None = None,
    sin_cache: Numbers | None = None,
    position_ids: Tensor | None = None,
    attention_bias: Numbers | None = None,
    head_sink: Numbers | None = None,
    *,
    num_heads: int,
    kv_num_heads: int,
    scale: Fraction | None = None,
    softcap: Fraction = Fraction(0),
    local_window_size: int = -1,
    qk_output: int = 0,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    smooth_softmax: int = 0,
    outputs: Annotated[int, OutputCount],
    grouped_heads: GroupedHeads,
    own_place_in_window: Annotated[Choice[Literal["beside", "counted"]], AsReading],
) -> tuple[Numbers, ...]:
    """Causal attention of new tokens behind those that are kept of each sequence, seqlens_k + 1 in all.

    Weights are exp(score) / (sum of these + exp(sink)); a smooth softmax is one with sinks of 0. What stands
    behind the end of a sequence no sentence says. Source: GroupQueryAttention, every attribute and input.
    """
    heads = (num_heads, kv_num_heads, kv_num_heads)
    q, k, v = _rows(query, key, value, heads)
    length = q.shape[2]
    totals = np.array(seqlens_k, dtype=np.int64) + 1
    pasts = totals - length if past_key is not None else np.zeros_like(totals)
    if do_rotary and cos_cache is not None and sin_cache is not None:
        at = pasts[:, None] + np.arange(length) if position_ids is None else position_ids.array
        places = Tensor(ELEMENT_TYPES["int64"], at)
        q, k = (
            rotary_embedding(each, cos_cache, sin_cache, places, interleaved=rotary_interleaved)
            for each in (q, k)
        )
    keys, values = (_kept(past, new, pasts) for past, new in ((past_key, k), (past_value, v)))
    behind_end = np.arange(keys.shape[2]) >= totals[:, None]
    own = heads_for_queries(kv_num_heads, num_heads, grouped_heads)
    shared = [each.arranged(lambda numbers: numbers[:, own]) for each in (keys, values)]
    left = local_window_size
    if left > 0 and own_place_in_window.ask() == "counted":
        left -= 1
    sight = VisibleKeys.of((*q.shape[:3], keys.shape[2]), 0, None if past_key is None else tuple(totals))
    found, weights = _weighed(
        q, shared[0], shared[1], sight.within(left, 0),
        scale=scale, softcap=softcap, bias=attention_bias,
        sink=q.lift(0).broadcast((num_heads,)) if smooth_softmax else head_sink,
    )  # fmt: skip
    late = (pasts[:, None] + np.arange(length) >= totals[:, None])[:, None, :, None]
    found, weights = (opened(each, late) if late.any() else each for each in (found, weights))
    told = tuple(opened(each, behind_end[:, None, :, None]) for each in (keys, values))
    rows = found.transposed((0, 2, 1, 3)).reshape((*query.shape[:2], -1))
    return (rows, *told, opened(weights, behind_end[:, None, None]))[:outputs]


def _rows(
    query: Numbers, key: Numbers | None, value: Numbers | None, heads: tuple[int, int, int]
) -> tuple[Numbers, Numbers, Numbers]:
    """Queries, keys and values by heads; without keys they lie behind the queries of each row."""
    if key is not None and value is not None:
        parts: Sequence[Numbers] = (query, key, value)
    else:
        size = query.shape[2] // sum(heads)
        parts = parted(query, [count * size for count in heads])
    q, k, v = (by_their_heads(part, count) for part, count in zip(parts, heads, strict=True))
    return q, k, v


def _kept(past: Tensor | None, new: Numbers, pasts: NDArray[np.int64]) -> Numbers:
    """What is kept of each sequence and what is new behind it; behind that anything."""
    joined = behind(past, new)
    width, length = joined.shape[2], new.shape[2]
    at, first = np.arange(width), width - length
    places = np.where(at < pasts[:, None], at, np.minimum(first + at - pasts[:, None], width - 1))
    return joined.arranged(lambda each: np.take_along_axis(each, places[:, None, :, None], axis=2))


def _weighed(
    q: Numbers,
    k: Numbers,
    v: Numbers,
    sight: VisibleKeys,
    *,
    scale: Fraction | None,
    softcap: Fraction,
    bias: Numbers | None,
    sink: Numbers | None,
) -> tuple[Numbers, Numbers]:
    """Values weighed by the keys that are seen, and these weights; a sink takes a share of them."""
    scores = scaled_products(q, k, *scaling(q.working, q.shape[3], scale, IN_ITS_TYPE))
    capped = function_of("tanh", scores / softcap) * softcap if softcap else scores
    biased = replace(sight, added=bias).biased(capped)
    if sink is None:
        weights = weights_of(biased, sight.seen)
    else:
        drained = sink.reshape((1, -1, 1, 1)).broadcast((*biased.shape[:3], 1))
        counted = np.concatenate([sight.seen, np.ones(drained.shape, dtype=np.bool_)], axis=-1)
        weights = weights_of(beside(biased, drained), counted).arranged(lambda each: each[..., :-1])
    return weighed(weights, v), weights
