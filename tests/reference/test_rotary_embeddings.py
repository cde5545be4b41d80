"""RotaryEmbedding against rational numbers, onnx's own evaluator, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx.helper import make_node
from onnx.reference import ReferenceEvaluator

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Rotate = Callable[[Array, Array, Array, Array], tuple[Array, Array]]
BATCH, HEADS, LENGTH, SIZE, ROWS = 2, 3, 4, 8, 9
CALLS: Mapping[str, Mapping[str, int]] = {
    "halves": {},
    "neighbours": {"interleaved": 1},
    "a part of halves": {"rotary_embedding_dim": 6},
    "a part of neighbours": {"interleaved": 1, "rotary_embedding_dim": 4},
    "three axes": {"num_heads": HEADS},
    "three axes, a part of neighbours": {"num_heads": HEADS, "interleaved": 1, "rotary_embedding_dim": 6},
}


@cache
def data_of(call: str, kind: str, *, positions: bool) -> Arrays:
    """Caches of true angles, and elements of either sign; positions that repeat and leave rows out."""
    draw = np.random.default_rng(23)
    shape = (BATCH, LENGTH, HEADS * SIZE) if "num_heads" in CALLS[call] else (BATCH, HEADS, LENGTH, SIZE)
    half = CALLS[call].get("rotary_embedding_dim", SIZE) // 2
    angles = draw.uniform(-3, 3, (ROWS, half) if positions else (BATCH, LENGTH, half))
    given = {"X": draw.normal(0, 4, shape), "cos_cache": np.cos(angles), "sin_cache": np.sin(angles)}
    found = {name: each.astype(KINDS[kind]) for name, each in given.items()}
    return found | ({"position_ids": draw.integers(0, ROWS, (BATCH, LENGTH))} if positions else {})


@cache
def asked(call: str, kind: str, *, positions: bool) -> Asked:
    given = data_of(call, kind, positions=positions)
    return Asked.of("RotaryEmbedding", kind, list(given.items()), CALLS[call])


def tokens_of(x: Array) -> Array:
    """A view of batch, token, head, element, in which what is written is written into x."""
    return x.swapaxes(1, 2) if x.ndim == 4 else x.reshape(*x.shape[:2], HEADS, -1)


def program(given: Arrays, attributes: Mapping[str, int], rotate: Rotate) -> Array:
    """By loops over batch, token and head, each pair in its place."""
    found = given["X"].copy()
    tokens, at = tokens_of(found), given.get("position_ids")
    width = attributes.get("rotary_embedding_dim", 0) or tokens.shape[3]
    first, second = slice(0, width // 2), slice(width // 2, width)
    if attributes.get("interleaved"):
        first, second = slice(0, width, 2), slice(1, width, 2)
    for batch, token, head in np.ndindex(*tokens.shape[:3]):
        row = (batch, token) if at is None else (at[batch, token],)
        one = tokens[batch, token, head]
        pair = rotate(one[first].copy(), one[second].copy(), given["cos_cache"][row], given["sin_cache"][row])
        one[first], one[second] = pair
    return found


def as_written(x: Array, y: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    return cos * x - sin * y, sin * x + cos * y


def fused(x: Array, y: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    """One product of each sum exactly, as a fused operation has it: float64 holds it."""
    wide = [array.astype(np.float64) for array in (x, cos, sin)]
    real, imaginary = wide[1] * wide[0] - sin * y, wide[2] * wide[0] + cos * y
    return real.astype(x.dtype), imaginary.astype(x.dtype)


def fused_otherwise(x: Array, y: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    """The other product of each sum."""
    wide = [array.astype(np.float64) for array in (y, cos, sin)]
    real, imaginary = cos * x - wide[2] * wide[0], sin * x + wide[1] * wide[0]
    return real.astype(x.dtype), imaginary.astype(x.dtype)


def in_double(x: Array, y: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    found = as_written(*(array.astype(np.float64) for array in (x, y, cos, sin)))
    return found[0].astype(x.dtype), found[1].astype(x.dtype)


@pytest.mark.parametrize("kind", ["float", "float16", "bfloat16"])
@pytest.mark.parametrize("rotate", [as_written, fused, fused_otherwise, in_double])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("positions", [True, False])
def test_an_honest_program_is_accepted(call: str, rotate: Rotate, kind: str, *, positions: bool) -> None:
    got = program(data_of(call, kind, positions=positions), CALLS[call], rotate)
    assert not asked(call, kind, positions=positions).wrong(got).any()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("positions", [True, False])
def test_values_are_those_of_rational_numbers(call: str, *, positions: bool) -> None:
    given = data_of(call, "float", positions=positions)
    found = asked(call, "float", positions=positions).accepted[0][0].expected.array
    exact = {
        name: np.vectorize(Fraction, otypes=[object])(each.astype(float))
        for name, each in given.items()
        if name != "position_ids"
    }
    wanted = program({**given, **exact}, CALLS[call], as_written)
    np.testing.assert_array_equal(found, np.vectorize(float, otypes=[float])(wanted).astype(np.float32))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("positions", [True, False])
def test_the_evaluator_of_onnx(call: str, *, positions: bool) -> None:
    given = data_of(call, "float", positions=positions)
    attributes: dict[str, Any] = dict(CALLS[call])
    node = make_node("RotaryEmbedding", list(given), ["Y"], **attributes)
    (wanted,) = ReferenceEvaluator(node).run(None, dict(given))
    assert not asked(call, "float", positions=positions).wrong(np.asarray(wanted)).any()


ROTATIONS: Mapping[str, Rotate] = {
    "the other way round": lambda x, y, cos, sin: as_written(x, y, cos, -sin),
    "caches exchanged": lambda x, y, cos, sin: as_written(x, y, sin, cos),
    "the halves exchanged": lambda x, y, cos, sin: as_written(y, x, cos, sin),
    "the imaginary part of the new real one": lambda x, y, cos, sin: (
        cos * x - sin * y,
        sin * (cos * x - sin * y) + cos * y,
    ),
    "a sine forgotten": lambda x, y, cos, sin: (cos * x - sin * y, cos * y),
    "frequencies from the last on": lambda x, y, cos, sin: as_written(x, y, cos[::-1], sin[::-1]),
    "caches of half a precision": lambda x, y, cos, sin: as_written(
        x, y, *(array.astype(np.float16).astype(np.float32) for array in (cos, sin))
    ),
}
ATTRIBUTES: Mapping[str, Mapping[str, int]] = {
    "halves for neighbours": {"interleaved": 0},
    "all of a head rotated as the part": {"rotary_embedding_dim": 4},
}


@pytest.mark.parametrize("fault", ROTATIONS)
@pytest.mark.parametrize("call", CALLS)
def test_a_faulty_rotation_is_refused(call: str, fault: str) -> None:
    got = program(data_of(call, "float", positions=True), CALLS[call], ROTATIONS[fault])
    assert np.count_nonzero(asked(call, "float", positions=True).wrong(got)) >= 40


@pytest.mark.parametrize("fault", ATTRIBUTES)
def test_an_attribute_read_otherwise_is_refused(fault: str) -> None:
    call = "three axes, a part of neighbours"
    given = data_of(call, "float", positions=True)
    got = program(
        given,
        {**CALLS[call], **ATTRIBUTES[fault]},
        lambda x, y, c, s: as_written(x, y, c[: len(x)], s[: len(x)]),
    )
    assert np.count_nonzero(asked(call, "float", positions=True).wrong(got)) >= 40


def test_positions_that_are_ignored_or_one_off_are_refused() -> None:
    given = data_of("halves", "float", positions=True)
    for other in (
        np.broadcast_to(np.arange(LENGTH), (BATCH, LENGTH)),
        np.minimum(given["position_ids"] + 1, ROWS - 1),
        np.broadcast_to(given["position_ids"][:1], (BATCH, LENGTH)),
    ):
        got = program({**given, "position_ids": other}, {}, as_written)
        assert np.count_nonzero(asked("halves", "float", positions=True).wrong(got)) >= 40


def test_heads_and_tokens_exchanged_are_refused() -> None:
    """A tensor of three axes read as if heads came before tokens."""
    call = "three axes"
    given = data_of(call, "float", positions=True)
    turned = given["X"].reshape(BATCH, HEADS, LENGTH, SIZE)
    got = program({**given, "X": turned}, {}, as_written).reshape(given["X"].shape)
    assert np.count_nonzero(asked(call, "float", positions=True).wrong(got)) >= 40


def test_what_is_not_rotated_stays_bit_by_bit() -> None:
    call = "a part of halves"
    answer = asked(call, "float", positions=False).accepted[0][0]
    assert answer.allowed is not None
    np.testing.assert_array_equal(
        answer.expected.array[..., 6:], data_of(call, "float", positions=False)["X"][..., 6:]
    )
    assert not answer.allowed[..., 6:].any()
