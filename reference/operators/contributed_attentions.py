"""Attentions of com.microsoft: masks of lengths and of keys, packed heads, projections inside."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import beside, parted, stacked
from reference.numbers.working import Mask
from reference.operators.attentions import VisibleKeys
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.attention_weights import scaled_products, scaling, weighed, weights_of
from reference.shared.heads import by_heads
from reference.sums.products import product_of_matrices

FILTER = Fraction(-10000)
"""What is added to the scores of keys that a mask leaves out where nothing is said."""
IN_ITS_TYPE = Choice("type")


@reference_operator("com.microsoft::MultiHeadAttention")
def multi_head_attention(
    query: Numbers,
    key: Numbers | None = None,
    value: Numbers | None = None,
    bias: Numbers | None = None,
    key_padding_mask: Tensor | None = None,
    attention_bias: Numbers | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    *,
    num_heads: int,
    mask_filter_value: Fraction = FILTER,
    scale: Fraction | None = None,
    unidirectional: int = 0,
    outputs: Annotated[int, OutputCount],
    place_of_queries: Annotated[Choice[Literal["first", "last"]], AsReading],
) -> tuple[Numbers, ...]:
    """Softmax(Q K' scale + what masks and biases add) V by heads, of rows that have a bias added first.

    Queries, keys and values may lie packed beside each other by heads, keys and values by heads alone.
    Source: MultiHeadAttention, Summary, query, key, value, bias, key_padding_mask, attention_bias.
    """
    q, k, v = _unpacked(query, key, value, num_heads)
    if bias is not None:
        q, k, v = _projected((q, k, v), bias)
    new, length = k.shape[2], q.shape[2]
    k, v = behind(past_key, k), behind(past_value, v)
    behind_all = unidirectional and new > length and place_of_queries.ask() == "last"
    found = attended(
        q, k, v, key_padding_mask, attention_bias,
        past=k.shape[2] - (length if behind_all else new), scale=scale, causal=unidirectional,
        filter_value=mask_filter_value,
    )  # fmt: skip
    return (found, k, v)[:outputs]


def _unpacked(
    query: Numbers, key: Numbers | None, value: Numbers | None, heads: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Queries, keys and values, each (batch, heads, length, size)."""
    if key is None:
        q, k, v = (_of_packed(query, place) for place in range(3))
    elif value is None:
        q, k, v = by_their_heads(query, heads), *(_of_packed(key, place) for place in range(2))
    else:
        q, k, v = (each if each.ndim == 4 else by_their_heads(each, heads) for each in (query, key, value))
    return q, k, v


def _projected(rows: tuple[Numbers, ...], bias: Numbers) -> list[Numbers]:
    """Each with its part of a bias added, which is laid by heads as well."""
    biases = parted(bias, [part.shape[1] * part.shape[3] for part in rows])
    return [
        part + added.reshape((1, part.shape[1], 1, part.shape[3]))
        for part, added in zip(rows, biases, strict=True)
    ]


def _of_packed(packed: Numbers, place: int) -> Numbers:
    return packed.arranged(lambda each: each[:, :, :, place].transpose((0, 2, 1, 3)))


def by_their_heads(rows: Numbers, heads: int) -> Numbers:
    """Rows of all heads side by side as (batch, heads, length, size)."""
    return rows.arranged(lambda each: by_heads(each, heads))


def behind(past: Tensor | None, new: Numbers) -> Numbers:
    """Keys or values that were kept, and new ones behind them."""
    if past is None:
        return new
    kept = Numbers.of(past, new.working)
    sides = (each.transposed((0, 1, 3, 2)) for each in (kept, new))
    return beside(*sides).transposed((0, 1, 3, 2))


def attended(
    q: Numbers,
    k: Numbers,
    v: Numbers,
    mask: Tensor | None,
    bias: Numbers | None,
    *,
    past: int,
    scale: Fraction | None,
    causal: int,
    filter_value: Fraction,
) -> Numbers:
    """Values weighed by scores of keys, to which a value is added where a mask leaves keys out.

    What a query comes to that a mask leaves no key no sentence says.
    """
    scores = scaled_products(q, k, *scaling(q.working, q.shape[3], scale, IN_ITS_TYPE))
    biased = scores if bias is None else scores + bias
    sight = VisibleKeys.of(scores.shape, past, None)
    sight = sight.within(-1, 0) if causal else sight
    kept = np.broadcast_to(_kept(mask, scores.shape), scores.shape)
    filtered = biased.where(kept, biased + filter_value)
    weights = weights_of(sight.biased(filtered), sight.seen)
    alone = np.asarray(~(kept & sight.seen).any(axis=-1, keepdims=True))
    found = weighed(opened(weights, alone) if alone.any() else weights, v)
    return found.transposed((0, 2, 1, 3)).reshape((q.shape[0], q.shape[2], -1))


def _kept(mask: Tensor | None, shape: tuple[int, ...]) -> Mask:
    """Which keys a mask keeps, (batch, head, query, key): lengths, ends and beginnings, or each alone."""
    if mask is None:
        return np.ones((), dtype=np.bool_)
    batch, keys, given = shape[0], np.arange(shape[3]), mask.array
    if given.ndim == 1:
        ends, starts = given[:batch, None, None, None], given[batch:, None, None, None]
        inside = keys < ends
        return np.asarray(inside & (keys >= starts) if starts.size else inside)
    wide = {2: (slice(None), None, None), 3: (slice(None), None), 4: ()}[given.ndim]
    return np.asarray(given[wide] != 0)


@reference_operator("com.microsoft::Attention")
def projecting_attention(
    input: Numbers,
    weights: Numbers,
    bias: Numbers | None = None,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Numbers | None = None,
    past_sequence_length: Tensor | None = None,
    *,
    do_rotary: int = 0,
    rotary_embedding_dim: int | None = None,
    num_heads: int,
    mask_filter_value: Fraction = FILTER,
    qkv_hidden_sizes: tuple[int, ...] | None = None,
    past_present_share_buffer: int = 0,
    scale: Fraction | None = None,
    unidirectional: int = 0,
    outputs: Annotated[int, OutputCount],
) -> tuple[Numbers, ...]:
    """Attention of queries, keys and values that are parts of input times weights + bias.

    Keys and values are kept one after the other. Source: Attention, Summary, qkv_hidden_sizes, bias, past.
    """
    rows = product_of_matrices(input, weights)
    sizes = qkv_hidden_sizes or (weights.shape[1] // 3,) * 3
    return _of_projected(
        rows if bias is None else rows + bias, sizes, num_heads, mask_index, past, attention_bias,
        scale=scale, causal=unidirectional, filter_value=mask_filter_value, outputs=outputs,
    )  # fmt: skip


def _of_projected(
    rows: Numbers,
    sizes: tuple[int, ...],
    heads: int,
    mask: Tensor | None,
    past: Tensor | None,
    bias: Numbers | None,
    *,
    scale: Fraction | None,
    causal: int,
    filter_value: Fraction,
    outputs: int,
) -> tuple[Numbers, ...]:
    """Attention of queries, keys and values that lie one behind the other in each row, and what is kept."""
    q, k, v = (by_their_heads(part, heads) for part in parted(rows, sizes))
    length = k.shape[2]
    if past is not None:
        kept = [Tensor(past.element_type, each) for each in past.array]
        k, v = behind(kept[0], k), behind(kept[1], v)
    found = attended(
        q, k, v, mask, bias, past=k.shape[2] - length, scale=scale, causal=causal, filter_value=filter_value
    )
    if outputs == 1:
        return (found,)
    return found, stacked([k, v]).transposed((4, 0, 1, 2, 3))


@reference_operator("com.microsoft::QAttention")
def quantised_attention(
    input: Tensor,
    weight: Tensor,
    bias: Numbers,
    input_scale: Numbers,
    weight_scale: Numbers,
    mask_index: Tensor | None = None,
    input_zero_point: Tensor | None = None,
    weight_zero_point: Tensor | None = None,
    past: Tensor | None = None,
    *,
    do_rotary: int = 0,
    num_heads: int,
    mask_filter_value: Fraction = FILTER,
    past_present_share_buffer: int = 0,
    scale: Fraction | None = None,
    unidirectional: int = 0,
    outputs: Annotated[int, OutputCount],
) -> tuple[Numbers, ...]:
    """Attention of (input - its zero point) (weight - its zero points) times both scales, plus bias.

    A program may multiply with the scales before it adds up. Source: QAttention, every input.
    """
    left, right = _apart(input, input_zero_point), _apart(weight, weight_zero_point)
    sums = Numbers.exact(left @ right, bias.working).rounded(1, exact=True)  # exact: integers
    rows = whichever(
        sums * (input_scale * weight_scale),
        lambda: product_of_matrices(
            Numbers.exact(left, bias.working) * input_scale, Numbers.exact(right, bias.working) * weight_scale
        ),
    )
    return _of_projected(
        rows + bias, (weight.shape[1] // 3,) * 3, num_heads, mask_index, past, None,
        scale=scale, causal=unidirectional, filter_value=mask_filter_value, outputs=outputs,
    )  # fmt: skip


def _apart(given: Tensor, zero_point: Tensor | None) -> NDArray[Any]:
    """Integers less their zero point."""
    numbers = given.array.astype(object)
    return numbers if zero_point is None else numbers - zero_point.array.astype(object)
