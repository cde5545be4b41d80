"""Attention against loops of mpmath, onnx's own evaluator, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx.helper import make_node
from onnx.reference import ReferenceEvaluator

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
Arrays = Mapping[str, Array]
HEADS, GROUP, QUERIES, KEYS, SIZE, WIDTH = 2, 2, 3, 4, 3, 2
EVERY = ("Y", "present_key", "present_value", "qk_matmul_output")
CALLS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "scaled": {"scale": 0.7},
    "causal": {"is_causal": 1},
    "causal behind a past": {"is_causal": 1, "past": 2},
    "causal with lengths": {"is_causal": 1, "lengths": [4, 2]},
    "booleans": {"mask": "bool", "shape": (2, 1, QUERIES, KEYS)},
    "booleans of heads": {"mask": "bool", "shape": (HEADS * GROUP, QUERIES, KEYS), "is_causal": 1},
    "numbers": {"mask": "float", "shape": (QUERIES, KEYS)},
    "a shorter mask": {"mask": "bool", "shape": (QUERIES, KEYS - 1)},
    "capped": {"softcap": 0.5, "mask": "bool", "shape": (QUERIES, KEYS), "qk_matmul_output_mode": 1},
    "capped and masked": {"softcap": 2.0, "mask": "float", "shape": (KEYS,), "qk_matmul_output_mode": 2},
    "a window": {"left_window_size": 1, "right_window_size": 0, "past": 2, "qk_matmul_output_mode": 3},
    "a window to both sides": {"left_window_size": 0, "right_window_size": 1, "lengths": [3, 4]},
}


def attributes_of(call: str) -> dict[str, Any]:
    return {
        name: each for name, each in CALLS[call].items() if name not in ("mask", "shape", "past", "lengths")
    }


@cache
def data_of(call: str, kind: str) -> Arrays:
    draw, given = np.random.default_rng(25), CALLS[call]
    found: dict[str, Array] = {
        "Q": draw.normal(0, 1.5, (2, HEADS * GROUP, QUERIES, SIZE)),
        "K": draw.normal(0, 1.5, (2, HEADS, KEYS, SIZE)),
        "V": draw.normal(0, 2, (2, HEADS, KEYS, WIDTH)),
    }
    if "past" in given:
        found["past_key"] = draw.normal(0, 1.5, (2, HEADS, given["past"], SIZE))
        found["past_value"] = draw.normal(0, 2, (2, HEADS, given["past"], WIDTH))
    if given.get("mask") == "float":
        found["attn_mask"] = draw.normal(0, 1, given["shape"])
    found = {name: each.astype(KINDS[kind]) for name, each in found.items()}
    if given.get("mask") == "bool":
        found["attn_mask"] = draw.integers(0, 2, given["shape"]) > 0
        found["attn_mask"].reshape((-1, given["shape"][-1]))[0] = False
    if "lengths" in given:
        found["nonpad_kv_seqlen"] = np.array(given["lengths"], np.int64)
    order = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
    return {name: found[name] for name in order if name in found}


@cache
def asked(call: str, kind: str) -> Asked:
    given = data_of(call, kind)
    wanted = ("Y", "", "", "qk_matmul_output") if "nonpad_kv_seqlen" in given else EVERY
    return Asked.of("Attention", kind, list(given.items()), attributes_of(call), outputs=wanted)


def wrong(call: str, kind: str, got: tuple[Array, Array]) -> int:
    """How many elements of both outputs are outside."""
    found, last = asked(call, kind), len(asked(call, kind).accepted[0]) - 1
    return sum(
        int(np.count_nonzero(found.wrong(array, at))) for array, at in zip(got, (0, last), strict=True)
    )


def seen(
    given: Arrays, attributes: Mapping[str, Any], at: tuple[int, int, int, int], *, off: int = 0
) -> bool:
    """Whether a query may look at a key, by the sentences of the page."""
    batch, head, query, key = at
    past = given["past_key"].shape[2] if "past_key" in given else 0
    position = query + past
    if "nonpad_kv_seqlen" in given:
        position = query + int(given["nonpad_kv_seqlen"][batch]) - given["Q"].shape[2]
        if key >= given["nonpad_kv_seqlen"][batch]:
            return False
    position += off
    left, right = attributes.get("left_window_size", -1), attributes.get("right_window_size", -1)
    if (left >= 0 and key < position - left) or (right >= 0 and key > position + right):
        return False
    if attributes.get("is_causal") and key > position:
        return False
    mask = given.get("attn_mask")
    if mask is None:
        return True
    if key >= mask.shape[-1]:
        return False
    return mask.dtype != np.bool_ or bool(mask[_place(mask, batch, head, query, key)])


def _place(mask: Array, *at: int) -> tuple[int, ...]:
    return tuple(0 if n == 1 else each for n, each in zip(mask.shape, at[4 - mask.ndim :], strict=True))


def exactly(call: str) -> tuple[Array, Array]:
    """Both outputs by loops over numbers of 250 bits."""
    given, attributes = data_of(call, "float"), attributes_of(call)
    keys, values = (
        np.concatenate([given[past], given[new]], axis=2) if past in given else given[new]
        for past, new in (("past_key", "K"), ("past_value", "V"))
    )
    shape = (*given["Q"].shape[:3], keys.shape[2])
    result, told = np.zeros((*shape[:3], WIDTH), object), np.zeros(shape, object)
    with mpmath.workprec(250):
        scale = attributes.get("scale")
        factor = 1 / mpmath.sqrt(SIZE) if scale is None else mpmath.mpf(float(np.float32(scale)))
        cap = mpmath.mpf(float(np.float32(attributes.get("softcap", 0))))
        for batch, head, query in np.ndindex(*shape[:3]):
            stages: list[list[Any]] = [[], [], [], []]
            for key in range(shape[3]):
                pairs = zip(given["Q"][batch, head, query], keys[batch, head // GROUP, key], strict=True)
                score = factor * mpmath.fsum(mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in pairs)
                capped = cap * mpmath.tanh(score / cap) if cap else score
                biased = capped
                if not seen(given, attributes, (batch, head, query, key)):
                    biased = mpmath.mpf("-inf")
                elif (mask := given.get("attn_mask")) is not None and mask.dtype != np.bool_:
                    biased = capped + mpmath.mpf(float(mask[_place(mask, batch, head, query, key)]))
                for stage, each in zip(stages, (score, capped, biased), strict=False):
                    stage.append(each)
            powers = [mpmath.exp(stage) for stage in stages[2]]
            summed = mpmath.fsum(powers)
            stages[3] = [power / summed if summed else mpmath.mpf(0) for power in powers]
            told[batch, head, query] = [
                float(stage) for stage in stages[attributes.get("qk_matmul_output_mode", 0)]
            ]
            for place in range(WIDTH):
                column = values[batch, head // GROUP, :, place]
                result[batch, head, query, place] = float(
                    mpmath.fsum(a * mpmath.mpf(float(b)) for a, b in zip(stages[3], column, strict=True))
                )
    return result.astype(np.float64).astype(np.float32), told.astype(np.float64).astype(np.float32)


@pytest.mark.parametrize("call", CALLS)
def test_loops_of_many_digits_are_accepted_and_are_the_expectation(call: str) -> None:
    result, told = exactly(call)
    assert not wrong(call, "float", (result, told))
    expected = asked(call, "float").accepted[0][0].expected.array
    np.testing.assert_allclose(expected, result, rtol=2.0**-23)


@pytest.mark.parametrize("call", CALLS)
def test_the_evaluator_of_onnx(call: str) -> None:
    """All of it agrees but scores before the cap, which the evaluator does not keep."""
    given, attributes = data_of(call, "float"), attributes_of(call)
    names = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
    inputs = [name if name in given else "" for name in names]
    node = make_node("Attention", inputs, list(EVERY), **attributes)
    found: Any = ReferenceEvaluator(node).run(None, dict(given))
    assert not wrong(call, "float", (np.asarray(found[0]), np.asarray(found[3])))


@cache
def biases(call: str, kind: str, off: int = 0) -> Array:
    given, attributes = data_of(call, kind), attributes_of(call)
    total = KEYS + CALLS[call].get("past", 0)
    shape = (2, HEADS * GROUP, QUERIES, total)
    found = np.zeros(shape)
    for at in np.ndindex(*shape):
        mask = given.get("attn_mask")
        if not seen(given, attributes, (at[0], at[1], at[2], at[3]), off=off):
            found[at] = -np.inf
        elif mask is not None and mask.dtype != np.bool_:
            found[at] = mask[_place(mask, *at)]
    return found.astype(KINDS[kind])


def spread_beside(heads: Array) -> Array:
    return np.repeat(heads, GROUP, axis=1)


def spread_in_turn(heads: Array) -> Array:
    return np.tile(heads, (1, GROUP, 1, 1))


def spread_backwards(heads: Array) -> Array:
    return np.repeat(heads[:, ::-1], GROUP, axis=1)


SPREADS = {"": spread_beside, "heads in turn": spread_in_turn, "heads from the last": spread_backwards}


Mix = Callable[[Array, Array], tuple[Array, Array]]


def program(
    call: str, kind: str, mix: Mix, *, scaling: str = "roots", off: int = 0, fault: str = ""
) -> tuple[Array, Array]:
    """In the type of the data; `mix` makes weights and results of biased scores and values."""
    given, attributes, to = data_of(call, kind), attributes_of(call), KINDS[kind]
    keys, values = given["K"], given["V"]
    if "past_key" in given:
        order = (-1, 1) if fault == "the past behind" else (1, -1)
        keys, values = (
            np.concatenate([given[past], given[new]][:: order[0]], axis=2)
            for past, new in (("past_key", "K"), ("past_value", "V"))
        )
    spread = SPREADS.get(fault, spread_beside)
    q, k, v = given["Q"], spread(keys).swapaxes(2, 3), spread(values)
    scale = to(attributes.get("scale", 1 / np.sqrt(np.float32(SIZE))))
    root = to(np.sqrt(np.float32(scale)))
    routes: Mapping[str, Callable[[], Array]] = {
        "roots": lambda: (q * root) @ (k * root),
        "at the end": lambda: (q @ k) * scale,
        "of queries": lambda: (q * scale) @ k,
        "once": lambda: (q * root) @ k,
        "none": lambda: q @ k,
    }
    scores = routes[scaling]().astype(to)
    cap, bias = to(attributes.get("softcap", 0)), biases(call, kind, off)
    with np.errstate(invalid="ignore"):
        if fault == "cap after the mask":
            biased = cap * np.tanh((scores + bias) / cap)
        else:
            capped = (cap * np.tanh(scores / cap)).astype(to) if cap else scores
            biased = capped + bias * to(2 if fault == "mask twice" else 1)
    weights, result = mix(biased.astype(to), v)
    stages = (scores, capped if fault != "cap after the mask" else scores, biased, weights)
    return result.astype(to), stages[attributes.get("qk_matmul_output_mode", 0)].astype(to)


def whole(biased: Array, v: Array) -> tuple[Array, Array]:
    top = biased.max(axis=-1, keepdims=True)
    powers = np.exp(biased - np.where(np.isinf(top), 0, top).astype(biased.dtype))
    summed = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(summed == 0, 1, summed).astype(biased.dtype)
    return weights, weights @ v


def without_greatest(biased: Array, v: Array) -> tuple[Array, Array]:
    powers = np.exp(biased)
    summed = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(summed == 0, 1, summed).astype(biased.dtype)
    return weights, weights @ v


def online(biased: Array, v: Array, block: int = 1) -> tuple[Array, Array]:
    """Blocks of keys one after the other, sums multiplied wherever a greater score comes."""
    to, weights = biased.dtype, whole(biased, v)[0]
    top = np.full((*biased.shape[:3], 1), -np.inf, to)
    summed, result = np.zeros_like(top), np.zeros((*biased.shape[:3], v.shape[3]), to)
    for start in range(0, biased.shape[3], block):
        part = biased[..., start : start + block]
        higher = np.maximum(top, part.max(axis=-1, keepdims=True))
        base = np.where(np.isinf(higher), 0, higher).astype(to)
        factor, powers = np.exp(top - base), np.exp(part - base)
        summed = (summed * factor + powers.sum(axis=-1, keepdims=True)).astype(to)
        result = (result * factor + powers @ v[:, :, start : start + block]).astype(to)
        top = higher
    return weights, result / np.where(summed == 0, 1, summed).astype(to)


def in_twos(biased: Array, v: Array) -> tuple[Array, Array]:
    """Powers of two of scores times a constant, which is multiplied before the greatest is subtracted."""
    to = biased.dtype
    times = (biased * to.type(np.log2(np.e))).astype(to)
    top = times.max(axis=-1, keepdims=True)
    powers = np.exp2(times - np.where(np.isinf(top), 0, top).astype(to))
    summed = powers.sum(axis=-1, keepdims=True)
    weights = powers * (1 / np.where(summed == 0, 1, summed)).astype(to)
    return weights, weights @ v


HONEST: Mapping[str, Mix] = {
    "whole rows": whole,
    "the greatest not subtracted": without_greatest,
    "key by key": online,
    "two keys at a time": lambda biased, v: online(biased, v, 2),
    "powers of two": in_twos,
}


@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize("scaling", ["roots", "at the end", "of queries"])
@pytest.mark.parametrize("route", HONEST)
@pytest.mark.parametrize("call", CALLS)
def test_an_honest_program_is_accepted(call: str, route: str, scaling: str, kind: str) -> None:
    assert not wrong(call, kind, program(call, kind, HONEST[route], scaling=scaling))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("plain", {"scaling": "none"}),
        ("scaled", {"scaling": "once"}),
        ("plain", {"fault": "heads from the last"}),
        ("causal", {"off": 1}),
        ("causal behind a past", {"off": -2}),
        ("causal behind a past", {"fault": "the past behind"}),
        ("causal with lengths", {"off": -1}),
        ("numbers", {"fault": "mask twice"}),
        ("capped", {"fault": "cap after the mask"}),
        ("capped and masked", {"fault": "cap after the mask"}),
        ("a window", {"off": 1}),
        ("a window to both sides", {"off": -1}),
    ],
)
def test_a_faulty_program_is_refused(call: str, fault: Mapping[str, Any]) -> None:
    assert wrong(call, "float", program(call, "float", whole, **fault)) >= 8


def test_heads_lie_beside_each_other_or_in_turn() -> None:
    """The page says that heads of queries share one, and not which do."""
    assert not wrong("causal", "float", program("causal", "float", whole, fault="heads in turn"))


def test_the_greatest_has_to_be_subtracted_where_scores_are_great() -> None:
    given = dict(data_of("plain", "float"))
    given["Q"] = given["Q"] * np.float32(300)
    found = Asked.of("Attention", "float", list(given.items()), {})
    scores = (given["Q"] / np.float32(np.sqrt(3))) @ np.repeat(given["K"], GROUP, 1).swapaxes(2, 3)
    values = np.repeat(given["V"], GROUP, 1)
    assert not found.wrong(whole(scores, values)[1]).any()
    with np.errstate(all="ignore"):
        assert found.wrong(without_greatest(scores, values)[1]).any()


def test_a_query_that_sees_nothing_has_zeros() -> None:
    result = np.array(exactly("booleans")[0])
    assert not result[:, :, 0].all()
    result[result == 0] = np.nan
    assert asked("booleans", "float").wrong(result).any()
