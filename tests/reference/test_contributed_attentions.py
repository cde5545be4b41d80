"""Attentions of com.microsoft against loops over heads and queries in double, and planted faults."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.reference.test_contributed_operators import Array, Asked, Program, draw, normal, outside, without


def told(got: Array, wanted: Array, allowed: Array | None) -> None:
    """What is expected is what double has, rounded, wherever anything is said."""
    said = np.ones(wanted.shape, dtype=np.bool_) if allowed is None else np.isfinite(allowed)
    np.testing.assert_allclose(got[said], wanted[said], rtol=2.0**-21, atol=1e-7)
    assert said.mean() > 0.5


def hold(asked: Asked) -> None:
    """A program's answers are right, and those of programs with a mistake are not."""
    answers, got = asked.answers(), asked.worked_out(asked.program)[: asked.outputs]
    assert outside(answers, got) == 0
    for answer, array in zip(answers, got, strict=True):
        told(array, answer.expected.array.astype(np.float64), answer.allowed)
    assert asked.faults
    for what, program in asked.faults.items():
        assert outside(answers, asked.worked_out(program)[: asked.outputs]), what


def attended(
    q: Array,
    k: Array,
    v: Array,
    *,
    mask: Array | None = None,
    added: Array | None = None,
    past: int = 0,
    scale: float | None = None,
    causal: int = 0,
    filter_value: float = -10000,
    window: int = -1,
    softcap: float = 0,
    sink: Array | None = None,
) -> Array:
    """Each query of each head alone, (batch, heads, length, size); heads of keys are for several in a row."""
    batch, heads, length, size = q.shape
    found = np.zeros((batch, length, heads * v.shape[3]))
    for b, h, at in np.ndindex(batch, heads, length):
        own = h // (heads // k.shape[1])
        scores = []
        for key in range(k.shape[2]):
            score = float(q[b, h, at] @ k[b, own, key]) * (size**-0.5 if scale is None else scale)
            score = softcap * math.tanh(score / softcap) if softcap else score
            if added is not None:
                score += added[b % added.shape[0], h % added.shape[1], at, key]
            if mask is not None and not kept(mask, batch, b, at, key):
                score += filter_value
            hidden = (causal and key > past + at) or (window >= 0 and key < past + at - window)
            scores.append(-math.inf if hidden else score)
        powers = np.exp(np.array(scores) - max(scores))
        total = powers.sum() + (0 if sink is None else math.exp(sink[h] - max(scores)))
        width = v.shape[3]
        found[b, at, h * width : (h + 1) * width] = powers / total @ v[b, own]
    return found


def kept(mask: Array, batch: int, b: int, at: int, key: int) -> bool:
    match mask.ndim:
        case 1 if len(mask) == batch:
            return key < int(mask[b])
        case 1:
            return int(mask[batch + b]) <= key < int(mask[b])
        case 2:
            return bool(mask[b, key])
        case 3:
            return bool(mask[b, at, key])
    return bool(mask[b, 0, at, key])


def heads_of(rows: Array, count: int) -> Array:
    return np.stack(np.split(rows, count, axis=-1), axis=1)


def multi_head(
    *,
    query: Array,
    key: Array | None = None,
    value: Array | None = None,
    bias: Array | None = None,
    key_padding_mask: Array | None = None,
    attention_bias: Array | None = None,
    past_key: Array | None = None,
    past_value: Array | None = None,
    num_heads: int,
    scale: float | None = None,
    unidirectional: int = 0,
    mask_filter_value: float = -10000,
    from_first: bool = False,
) -> tuple[Array, ...]:
    """Rows are cut into heads, packed ones taken apart."""
    if key is None:
        q, k, v = (each.swapaxes(1, 2) for each in np.moveaxis(query, 3, 0))
    elif value is None:
        q, (k, v) = heads_of(query, num_heads), (each.swapaxes(1, 2) for each in np.moveaxis(key, 3, 0))
    else:
        q, k, v = (each if each.ndim == 4 else heads_of(each, num_heads) for each in (query, key, value))
    if bias is not None:
        ends = np.cumsum([num_heads * each.shape[3] for each in (q, k)])
        q, k, v = (
            each + heads_of(part[None, None], num_heads)
            for each, part in zip((q, k, v), np.split(bias, ends), strict=True)
        )
    past = 0 if past_key is None else past_key.shape[2]
    k = k if past_key is None else np.concatenate([past_key, k], axis=2)
    v = v if past_value is None else np.concatenate([past_value, v], axis=2)
    found = attended(
        q, k, v, mask=key_padding_mask, added=attention_bias, past=0 if from_first else past,
        scale=scale, causal=unidirectional, filter_value=mask_filter_value,
    )  # fmt: skip
    return found, k, v


SCORES: tuple[str, ...] = ("unidirectional", "scale", "mask_filter_value")


def multi(shape: tuple[int, ...], **inputs: Any) -> Asked:
    """Two sequences; `shape` is of heads, queries, keys, sizes of keys and values."""
    heads, queries, keys, size, width = shape
    attributes: dict[str, Any] = {
        name: inputs.pop(name) for name in ("unidirectional", "scale", "mask_filter_value") if name in inputs
    }
    given = {
        "query": normal(2, queries, heads * size),
        "key": normal(2, keys, heads * size),
        "value": normal(2, keys, heads * width),
        **inputs,
    }
    given = {name: array for name, array in given.items() if array is not None}
    faults: dict[str, Program] = {}
    for name in ("bias", "key_padding_mask", "attention_bias", *attributes):
        if name in given or name in attributes:
            faults[f"{name} left out"] = without(name, of=multi_head)
    if "past_key" in given and attributes.get("unidirectional"):
        faults["causal from the first key"] = lambda **each: multi_head(**each, from_first=True)
    if "value" in given and given["value"].ndim == 3 and heads > 1:
        faults["heads backwards"] = lambda **each: (multi_head(**each)[0][..., ::-1], *multi_head(**each)[1:])
    return Asked("MultiHeadAttention", given, multi_head, faults, {"num_heads": heads, **attributes}, 3)


def lengths(*numbers: Any) -> Array:
    return np.array(numbers, dtype=np.int32)


def projecting(
    *,
    data: Array,
    weights: Array,
    bias: Array | float = 0.0,
    mask_index: Array | None = None,
    past: Array | None = None,
    attention_bias: Array | None = None,
    num_heads: int,
    qkv_hidden_sizes: tuple[int, ...] | None = None,
    exchanged: bool = False,
    **scores: Any,
) -> tuple[Array, ...]:
    """Rows times weights, cut into queries, keys and values."""
    sizes = qkv_hidden_sizes or (weights.shape[1] // 3,) * 3
    q, k, v = np.split(data @ weights + bias, np.cumsum(sizes)[:2], axis=-1)
    if exchanged:
        q, k = k, q
    kept = {} if past is None else {"past_key": past[0], "past_value": past[1]}
    found, keys, values = multi_head(
        query=q, key=k, value=v, num_heads=num_heads, key_padding_mask=mask_index,
        attention_bias=attention_bias, **kept, **scores,
    )  # fmt: skip
    return (found, *((np.stack([keys, values]),) if keys.shape == values.shape else ()))


def projected(sizes: tuple[int, ...], **inputs: Any) -> Asked:
    """Two sequences; `sizes` are of heads, queries, rows, and the widths of queries, keys and values."""
    heads, queries, rows, *widths = sizes
    attributes: dict[str, Any] = {name: inputs.pop(name) for name in SCORES if name in inputs}
    given = {"input": normal(2, queries, rows), "weights": normal(rows, sum(widths)), **inputs}
    faults: dict[str, Program] = {
        f"{name} left out": without(name, of=projecting)
        for name in ("bias", "mask_index", "past", "attention_bias", *attributes)
        if name in given or name in attributes
    }
    faults["queries for keys"] = lambda **each: projecting(**each, exchanged=True)
    attributes |= {"num_heads": heads} | (
        {} if len(set(widths)) == 1 else {"qkv_hidden_sizes": tuple(widths)}
    )
    return Asked("Attention", given, projecting, faults, attributes, 2 if "past" in given else 1)


def quantised(
    *,
    data: Array,
    weight: Array,
    bias: Array,
    input_scale: Array,
    weight_scale: Array,
    mask_index: Array | None = None,
    input_zero_point: Array | float = 0,
    weight_zero_point: Array | float = 0,
    past: Array | None = None,
    **attributes: Any,
) -> tuple[Array, ...]:
    """Numbers in place of the integers, then as projecting attention."""
    rows = (data.astype(np.float64) - input_zero_point) * input_scale
    columns = (weight.astype(np.float64) - weight_zero_point) * weight_scale
    return projecting(data=rows, weights=columns, bias=bias, mask_index=mask_index, past=past, **attributes)


def of_integers(kinds: tuple[str, str], per_column: bool, **inputs: Any) -> Asked:
    """Two sequences of three rows of five integers, two heads of size two."""
    attributes: dict[str, Any] = {name: inputs.pop(name) for name in SCORES if name in inputs}
    low = [-100 if kind == "int8" else 0 for kind in kinds]
    size = (12,) if per_column else ()
    given = {
        "input": draw.integers(low[0], low[0] + 200, (2, 3, 5)).astype(kinds[0]),
        "weight": draw.integers(low[1], low[1] + 200, (5, 12)).astype(kinds[1]),
        "bias": normal(12),
        "input_scale": np.array(0.0078125, dtype=np.float32),
        "weight_scale": (0.01 * np.abs(normal(12)) + 0.004)[: 12 if per_column else 1].reshape(size),
        "input_zero_point": np.array(low[0] + 90, dtype=kinds[0]),
        "weight_zero_point": draw.integers(low[1] + 70, low[1] + 90, size).astype(kinds[1]),
        **inputs,
    }
    given["weight_scale"] = np.asarray(given["weight_scale"], dtype=np.float32)
    given["weight_zero_point"] = np.asarray(given["weight_zero_point"], dtype=kinds[1])
    optional = ("input_zero_point", "weight_zero_point", "mask_index", *attributes)
    faults = {
        f"{name} left out": without(name, of=quantised)
        for name in optional
        if name in given or name in attributes
    }
    attributes["num_heads"] = 2
    return Asked("QAttention", given, quantised, faults, attributes, 2 if "past" in given else 1)


def turned(rows: Array, at: int, cos: Array, sin: Array, interleaved: int) -> Array:
    """The heads of one token, (heads, size), each pair as a complex number times that of the angle."""
    half = rows.shape[-1] // 2
    one, other = (rows[:, 0::2], rows[:, 1::2]) if interleaved else (rows[:, :half], rows[:, half:])
    pairs = (one + 1j * other) * (cos[at] + 1j * sin[at])
    joined = [pairs.real, pairs.imag]
    return np.stack(joined, -1).reshape(rows.shape) if interleaved else np.concatenate(joined, -1)


def grouped(
    *,
    query: Array,
    key: Array | None = None,
    value: Array | None = None,
    past_key: Array | None = None,
    past_value: Array | None = None,
    seqlens_k: Array,
    total_sequence_length: Array,
    cos_cache: Array | None = None,
    sin_cache: Array | None = None,
    position_ids: Array | None = None,
    attention_bias: Array | None = None,
    head_sink: Array | None = None,
    num_heads: int,
    kv_num_heads: int,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    smooth_softmax: int = 0,
    local_window_size: int = -1,
    behind_cache: bool = False,
    counted: bool = False,
    **scores: Any,
) -> tuple[Array, ...]:
    """Sequence by sequence, token by token; what stands behind the end of one is left at zero."""
    if key is None or value is None:
        size = query.shape[2] // (num_heads + 2 * kv_num_heads)
        query, key, value = np.split(query, np.cumsum([num_heads, kv_num_heads]) * size, axis=2)
    q, k, v = (heads_of(each, each.shape[2] // (query.shape[2] // num_heads)) for each in (query, key, value))
    batch, length = query.shape[:2]
    width = length + (0 if past_key is None else past_key.shape[2])
    keys, values = (np.zeros((batch, kv_num_heads, width, each.shape[3])) for each in (k, v))
    found = np.zeros(query.shape)
    for b in range(batch):
        past = 0 if past_key is None else int(seqlens_k[b]) + 1 - length
        start = width - length if behind_cache else past
        if past_key is not None and past_value is not None:
            keys[b, :, :past], values[b, :, :past] = past_key[b, :, :past], past_value[b, :, :past]
        for at in range(length):
            if do_rotary and cos_cache is not None and sin_cache is not None:
                angle = past + at if position_ids is None else int(position_ids[b, at])
                for rows in (q, k):
                    rows[b, :, at] = turned(rows[b, :, at], angle, cos_cache, sin_cache, rotary_interleaved)
            if start + at < width:
                keys[b, :, start + at], values[b, :, start + at] = k[b, :, at], v[b, :, at]
        added = None if attention_bias is None else attention_bias[[b % len(attention_bias)]]
        sink = np.zeros(num_heads) if smooth_softmax else head_sink
        found[b] = attended(
            q[[b]], keys[[b]], values[[b]], added=added, past=past, causal=1, sink=sink,
            window=local_window_size - counted, **scores,
        )[0]  # fmt: skip
    return found, keys, values


TURNS = {"cos": np.cos, "sin": np.sin}


def group(heads: tuple[int, int], length: int, past: int, ends: tuple[int, ...], **inputs: Any) -> Asked:
    """Sequences that end at `ends`, heads of size 16 for queries and keys."""
    names = (*SCORES, "softcap", "do_rotary", "rotary_interleaved", "smooth_softmax", "local_window_size")
    attributes = {name: inputs.pop(name) for name in names if name in inputs}
    batch, (wide, narrow) = len(ends), heads
    if inputs.pop("packed", False):
        given = {"query": normal(batch, length, (wide + 2 * narrow) * 16)}
    else:
        given = {"query": normal(batch, length, wide * 16)}
        given |= {name: normal(batch, length, narrow * 16) for name in ("key", "value")}
    if past:
        given |= {name: normal(batch, narrow, past, 16) for name in ("past_key", "past_value")}
    given |= {
        "seqlens_k": np.array(ends, dtype=np.int32) - 1,
        "total_sequence_length": np.array(max(ends), dtype=np.int32),
    }
    if attributes.get("do_rotary"):
        angles = draw.uniform(-3, 3, (24, 8))
        given |= {
            "cos_cache": np.cos(angles).astype(np.float32),
            "sin_cache": np.sin(angles).astype(np.float32),
        }
    given |= inputs
    faults: dict[str, Program] = {
        f"{name} left out": without(name, of=grouped)
        for name in (*attributes, "attention_bias", "head_sink", "position_ids")
        if name in given or name in attributes
    }
    if len(set(ends)) > 1 and past:
        faults["behind the longest"] = lambda **each: grouped(**each, behind_cache=True)
    if wide > narrow > 1:
        faults["heads in turn"] = lambda query, **each: grouped(
            query=heads_of(query, wide)[:, [0, 2, 1, 3]].swapaxes(1, 2).reshape(query.shape), **each
        )
    attributes |= {"num_heads": wide, "kv_num_heads": narrow}
    return Asked("GroupQueryAttention", given, grouped, faults, attributes, 3)


EACH = (
    multi((2, 3, 5, 4, 3), bias=normal(22), key_padding_mask=lengths(5, 2)),
    multi((4, 1, 1, 3, 3), past_key=normal(2, 4, 17, 3), past_value=normal(2, 4, 17, 3), scale=0.25),
    multi((2, 3, 3, 3, 3), past_key=normal(2, 2, 1, 3), past_value=normal(2, 2, 1, 3), unidirectional=1,
          attention_bias=normal(1, 2, 3, 4), scale=0.5),
    multi((1, 2, 4, 3, 3), key_padding_mask=lengths([1, 0, 1, 1], [0, 1, 0, 1]), mask_filter_value=-2.0),
    multi((2, 2, 3, 2, 2), key_padding_mask=lengths([[1, 0, 1], [1, 1, 0]], [[0, 0, 1], [1, 1, 1]])),
    multi((2, 3, 3, 2, 2), query=normal(2, 3, 2, 3, 2), key=None, value=None, bias=normal(12)),
    multi((3, 2, 4, 2, 2), key=normal(2, 4, 3, 2, 2), value=None, key_padding_mask=lengths(3, 4)),
    multi((2, 2, 4, 2, 2), key=normal(2, 2, 4, 2), value=normal(2, 2, 4, 2),
          attention_bias=normal(2, 1, 2, 4)),
    projected((2, 3, 5, 4, 4, 4), bias=normal(12), unidirectional=1),
    projected((2, 3, 5, 4, 4, 6), bias=normal(14), mask_index=lengths(3, 2), scale=0.5),
    projected((2, 3, 17, 4, 4, 4), mask_index=lengths(3, 2, 1, 0), unidirectional=1),
    projected((4, 1, 3, 8, 8, 8), past=normal(2, 2, 4, 17, 2), mask_index=np.tile(lengths(1, 0, 1), (2, 6))),
    projected((1, 2, 3, 2, 2, 2), past=normal(2, 2, 1, 1, 2), unidirectional=1,
              attention_bias=normal(2, 1, 2, 3)),
    projected((2, 3, 4, 2, 2, 2), mask_index=np.stack([lengths([1, 0, 0], [0, 1, 1], [1, 1, 0])] * 2)),
    group((4, 2), 3, 0, (3, 3), scale=0.75),
    group((4, 1), 3, 0, (3, 2), do_rotary=1, packed=True),
    group((4, 4), 1, 17, (18, 4), do_rotary=1, rotary_interleaved=1),
    group((2, 2), 1, 1, (2, 2), do_rotary=1, position_ids=np.array([[4], [0]])),
    group((4, 2), 4, 2, (6,), local_window_size=1, softcap=0.5),
    group((2, 1), 4, 0, (4,), head_sink=normal(2), attention_bias=normal(1, 2, 4, 4)),
    group((2, 1), 2, 3, (5,), smooth_softmax=1),
    of_integers(("uint8", "int8"), per_column=False, unidirectional=1),
    of_integers(("int8", "uint8"), per_column=True, mask_index=lengths(2, 3)),
    of_integers(("uint8", "uint8"), per_column=True, past=normal(2, 2, 2, 1, 2), scale=0.5),
)  # fmt: skip


@pytest.mark.parametrize("asked", EACH, ids=lambda asked: f"{asked.name}-{','.join(asked.inputs)}")
def test_answers_are_those_of_loops_and_faults_are_noticed(asked: Asked) -> None:
    hold(asked)
