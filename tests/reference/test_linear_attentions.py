"""LinearAttention against steps of mpmath's numbers, programs by steps and by chunks, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest

from tests.reference.honest_programs import KINDS, Asked
from tests.reference.linear_attention_programs import (
    Array,
    Arrays,
    Both,
    Unpacked,
    by_chunks,
    by_steps,
    doubled,
)

HEADS, GROUP, TIME, SIZE, WIDTH = 2, 2, 4, 3, 3
CALLS: Mapping[str, Mapping[str, Any]] = {
    "linear": {"update_rule": "linear"},
    "linear behind a state": {"update_rule": "linear", "past": True, "scale": -1.5},
    "gated": {"update_rule": "gated", "past": True},
    "gated by heads": {"update_rule": "gated", "gates": 1},
    "delta": {"update_rule": "delta", "past": True},
    "delta of one rate": {"update_rule": "delta", "rates": 1, "scale": 0.25},
    "both": {"past": True},
    "both by heads": {"update_rule": "gated_delta", "gates": 1, "rates": 1, "past": True},
    "both from nothing": {"scale": 0.7},
}


def attributes_of(call: str) -> dict[str, Any]:
    given = {name: each for name, each in CALLS[call].items() if name in ("update_rule", "scale")}
    return {"q_num_heads": HEADS * GROUP, "kv_num_heads": HEADS, **given}


@cache
def data_of(call: str, kind: str) -> Arrays:
    draw, given = np.random.default_rng(27), CALLS[call]
    rule = given.get("update_rule", "gated_delta")
    found: dict[str, Array] = {
        "query": draw.normal(0, 1, (2, TIME, HEADS * GROUP * SIZE)),
        "key": draw.normal(0, 0.8, (2, TIME, HEADS * SIZE)),
        "value": draw.normal(0, 2, (2, TIME, HEADS * WIDTH)),
    }
    if "past" in given:
        found["past_state"] = draw.normal(0, 1, (2, HEADS, SIZE, WIDTH))
    if "gated" in rule:
        found["decay"] = -np.abs(draw.normal(0, 0.8, (2, TIME, HEADS * given.get("gates", SIZE))))
    if "delta" in rule:
        found["beta"] = draw.uniform(0.1, 1, (2, TIME, given.get("rates", HEADS)))
    return {name: each.astype(KINDS[kind]) for name, each in found.items()}


@cache
def asked(call: str, kind: str) -> Asked:
    given = data_of(call, kind)
    order = ("query", "key", "value", "past_state", "decay", "beta")
    inputs = [(name, given.get(name)) for name in order]
    return Asked.of("LinearAttention", kind, inputs, attributes_of(call), outputs=("output", "present_state"))


def wrong(call: str, kind: str, got: Both) -> int:
    """How many elements of both outputs are outside."""
    to = KINDS[kind]
    return sum(
        int(np.count_nonzero(asked(call, kind).wrong(array.astype(to), at))) for at, array in enumerate(got)
    )


def held(call: str, kind: str, computed: Any = None) -> Unpacked:
    """The call in a type of numpy, that of the data as a rule."""
    to = KINDS[kind] if computed is None else computed
    return Unpacked.of(
        data_of(call, kind), attributes_of(call), lambda attribute: np.asarray(attribute).astype(to)
    )


def exactly(call: str) -> Both:
    """Both outputs by steps over numbers of 250 bits."""
    number = np.frompyfunc(lambda each: mpmath.mpf(float(each)), 1, 1)
    with mpmath.workprec(250):
        exact = Unpacked.of(
            data_of(call, "float"),
            attributes_of(call),
            lambda attribute: np.asarray(number(attribute), dtype=object),
        )
        power = np.frompyfunc(mpmath.exp, 1, 1)
        found = by_steps(exact, power=lambda array: np.asarray(power(array), dtype=object))
        output, state = (np.asarray(np.frompyfunc(float, 1, 1)(array)) for array in found)
    return output.astype(np.float64), state.astype(np.float64)


@pytest.mark.parametrize("call", CALLS)
def test_steps_of_many_digits_are_accepted_and_are_the_expectation(call: str) -> None:
    found = exactly(call)
    assert not wrong(call, "float", found)
    for got, expected in zip(found, asked(call, "float").accepted[0], strict=True):
        np.testing.assert_allclose(expected.expected.array, got, rtol=2.0**-24, atol=2.0**-149)


HONEST: Mapping[str, Callable[[Unpacked], Both]] = {
    "step by step": by_steps,
    "queries times the scale": lambda call: by_steps(call, scale_first=True),
    "one chunk": lambda call: by_chunks(call, TIME),
    "chunks of two": lambda call: by_chunks(call, 2),
    "one chunk of quotients": lambda call: by_chunks(call, TIME, quotients=True),
    "one chunk, inverted": lambda call: by_chunks(call, TIME, quotients=True, inverse=doubled),
    "chunks of three, inverted": lambda call: by_chunks(call, 3, inverse=doubled),
}


@pytest.mark.parametrize("kind", ["float", pytest.param("float16", marks=pytest.mark.slow)])
@pytest.mark.parametrize("route", HONEST)
@pytest.mark.parametrize("call", CALLS)
def test_an_honest_program_is_accepted(call: str, route: str, kind: str) -> None:
    """In the type of the data, and in float32 where that is narrow."""
    assert not wrong(call, kind, HONEST[route](held(call, kind)))
    assert not wrong(call, kind, HONEST[route](held(call, kind, np.float32)))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("gated", "gate of the other sign"),
        ("gated", "gate of values"),
        ("gated", "gate behind"),
        ("both", "gate not in what is kept"),
        ("both", "rate of the first head"),
        ("delta", "no delta"),
        ("delta", "no rate"),
        ("linear", "read before it is written"),
        ("both", "no scale"),
        ("both", "the last state but one"),
        *((call, "state in bfloat16") for call in ("gated", "delta", "both")),
    ],
)
def test_a_faulty_program_is_refused(call: str, fault: str) -> None:
    assert wrong(call, "float", by_steps(held(call, "float"), fault=fault)) >= 12


def of_one_head(state: Array, heads: int) -> Array:
    return np.repeat(state[:, :1], heads, axis=1)


def from_the_last(state: Array, heads: int) -> Array:
    return np.repeat(state[:, ::-1], heads // state.shape[1], axis=1)


def in_turn(state: Array, heads: int) -> Array:
    return np.tile(state, (1, heads // state.shape[1], 1, 1))


def test_heads_lie_beside_each_other_or_in_turn() -> None:
    """No sentence says which; other ways are neither."""
    call = held("both", "float")
    assert not wrong("both", "float", by_steps(call, spread=in_turn))
    for spread in (of_one_head, from_the_last):
        assert wrong("both", "float", by_steps(call, spread=spread)) >= 12


def test_a_state_in_float_is_computed_with_in_float_or_in_the_type_of_the_data() -> None:
    given = dict(data_of("both", "float16"))
    given["past_state"] = data_of("both", "float")["past_state"]
    order = ("query", "key", "value", "past_state", "decay", "beta")
    found = Asked.of(
        "LinearAttention", "float16", [(each, given[each]) for each in order], attributes_of("both")
    )
    output, state = found.accepted[0]
    assert (output.expected.element_type.name, state.expected.element_type.name) == ("float16", "float")
    call = Unpacked.of(
        given, attributes_of("both"), lambda attribute: np.asarray(attribute).astype(np.float32)
    )
    last = by_steps(call)[1]
    assert (np.abs(state.expected.array - last) <= state.allowed).all()


def test_what_is_not_finite_leaves_its_head_open() -> None:
    given = dict(data_of("both", "float"))
    given["value"] = np.array(given["value"])
    given["value"][0, 2, 0] = np.inf
    order = ("query", "key", "value", "past_state", "decay", "beta")
    found = Asked.of(
        "LinearAttention", "float", [(each, given[each]) for each in order], attributes_of("both")
    )
    allowed = found.accepted[0][1].allowed
    assert allowed is not None
    assert np.isinf(allowed[0, 0]).all()
    assert not np.isinf(allowed[1]).any()
    assert not np.isinf(allowed[0, 1]).any()
