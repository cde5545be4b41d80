"""Selu, SwiGLU and LpNormalization against mpmath, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
Program = Callable[[Array, Callable[[float], Any]], Array]
ALPHA, GAMMA = 1.67326319217681884765625, 1.05070102214813232421875
LANES = (6, 7)


def sigmoid(x: Array, c: Callable[[float], Any]) -> Array:
    return np.asarray(c(1) / (c(1) + np.exp(-x)))


def by_steps(x: Array, c: Callable[[float], Any], ways: Callable[[Array], Array]) -> Array:
    """The sums of what lanes come to, from their first element on."""
    found = ways(x[..., :1])
    for at in range(1, x.shape[-1]):
        found = (found + ways(x[..., at : at + 1])).astype(x.dtype)
    return np.asarray(found)


def other(x: Array) -> Array:
    return np.asarray(x[..., ::-1])


PROGRAMS: dict[tuple[str, str], Program] = {
    ("selu", "as written"): lambda x, c: np.where(
        x > 0, c(GAMMA) * x, c(GAMMA) * (c(ALPHA) * np.exp(x) - c(ALPHA))
    ),
    ("selu", "less one"): lambda x, c: np.where(
        x > 0, c(GAMMA) * x, c(GAMMA) * (c(ALPHA) * (np.exp(x) - c(1)))
    ),
    ("selu", "by expm1"): lambda x, c: np.where(x > 0, c(GAMMA) * x, (c(ALPHA) * c(GAMMA)) * np.expm1(x)),
    ("swiglu", "as written"): lambda x, c: (x * sigmoid(c(1.25) * x, c)) * other(x),
    ("swiglu", "one quotient"): lambda x, c: x / (c(1) + np.exp(-(c(1.25) * x))) * other(x),
    ("swiglu", "product of inputs last"): lambda x, c: other(x) * (x * sigmoid(c(1.25) * x, c)),
    ("lp1", "as written"): lambda x, c: x / by_steps(x, c, np.abs),
    ("lp1", "by the reciprocal"): lambda x, c: x * (c(1) / by_steps(x, c, np.abs)),
    ("lp1", "pairwise"): lambda x, c: x / np.abs(x).sum(axis=-1, keepdims=True, dtype=x.dtype),
    ("lp2", "as written"): lambda x, c: x / np.sqrt(by_steps(x, c, np.square)),
    ("lp2", "by the reciprocal"): lambda x, c: x * (c(1) / np.sqrt(by_steps(x, c, np.square))),
    ("lp2", "pairwise"): lambda x, c: x / np.sqrt((x * x).sum(axis=-1, keepdims=True, dtype=x.dtype)),
}
FAULTS: dict[tuple[str, str], Program] = {
    ("selu", "gamma forgotten below"): lambda x, c: np.where(x > 0, c(GAMMA) * x, c(ALPHA) * np.expm1(x)),
    ("selu", "gamma forgotten above"): lambda x, c: np.where(x > 0, x, c(GAMMA) * c(ALPHA) * np.expm1(x)),
    ("selu", "coefficients of four digits"): lambda x, c: np.where(
        x > 0, c(1.051) * x, c(1.051) * c(1.673) * np.expm1(x)
    ),
    ("swiglu", "alpha forgotten"): lambda x, c: x * sigmoid(x, c) * other(x),
    ("swiglu", "the gate is the other input"): lambda x, c: other(x) * sigmoid(c(1.25) * other(x), c) * x,
    ("swiglu", "without x"): lambda x, c: sigmoid(c(1.25) * x, c) * other(x),
    ("lp1", "p of 2"): lambda x, c: PROGRAMS["lp2", "as written"](x, c),
    ("lp1", "signs kept in the sum"): lambda x, c: x / x.sum(axis=-1, keepdims=True),
    ("lp2", "p of 1"): lambda x, c: PROGRAMS["lp1", "as written"](x, c),
    ("lp2", "the root forgotten"): lambda x, c: x / (x * x).sum(axis=-1, keepdims=True),
    ("lp2", "the wrong axis"): lambda x, c: x / np.sqrt((x * x).sum(axis=0, keepdims=True)),
    ("lp2", "a small number added"): lambda x, c: x / (np.sqrt((x * x).sum(-1, keepdims=True)) + c(1e-5)),
}


def data_of(kind: str) -> Array:
    draw = np.random.default_rng(11)
    ordinary = np.concatenate(
        [draw.normal(0, 1, LANES), draw.normal(0, 4, LANES), draw.uniform(-9, 0, LANES)]
    )
    return np.asarray(ordinary.astype(KINDS[kind]))


@cache
def asked(call: str, kind: str) -> Asked:
    data = data_of(kind)
    if call == "selu":
        return Asked.of("Selu", kind, [("X", data)])
    if call == "swiglu":
        return Asked.of("SwiGLU", kind, [("A", data), ("B", other(data).copy())], {"alpha": 1.25})
    return Asked.of("LpNormalization", kind, [("input", data)], {"p": int(call[-1]), "axis": -1})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("call", "way"), PROGRAMS)
def test_an_honest_program_is_accepted(call: str, way: str, kind: str) -> None:
    data, narrow = data_of(kind), KINDS[kind]
    got = np.asarray(PROGRAMS[call, way](data, narrow)).astype(narrow)
    wider = np.asarray(PROGRAMS[call, way](data.astype(np.float64), np.float64)).astype(narrow)
    for each in (got, wider):
        wrong = asked(call, kind).wrong(each)
        assert not wrong.any(), list(zip(data[wrong].tolist(), each[wrong].tolist(), strict=True))[:5]


@pytest.mark.parametrize(("call", "way"), FAULTS)
def test_a_faulty_program_is_not(call: str, way: str) -> None:
    got = np.asarray(FAULTS[call, way](data_of("float"), np.float32)).astype(np.float32)
    assert np.count_nonzero(asked(call, "float").wrong(got)) >= 10


@pytest.mark.parametrize("way", ["as written", "by expm1"])
def test_a_coefficient_that_is_left_out_may_be_the_one_that_is_printed(way: str) -> None:
    """1.67326 and 1.0507 stand in the list of attributes; each is outside the other reading's bound."""
    data = data_of("float")
    alpha, gamma = np.float32(1.67326), np.float32(1.0507)
    got = np.where(data > 0, gamma * data, gamma * (alpha * np.expm1(data))).astype(np.float32)
    assert not asked("selu", "float").wrong(got).any()
    stated = Asked("float", asked("selu", "float").accepted[:1])
    assert np.count_nonzero(stated.wrong(got)) >= 10
    assert not stated.wrong(PROGRAMS["selu", way](data, np.float32).astype(np.float32)).any()


def test_a_lane_of_zeros_is_zero() -> None:
    data = np.array([[0, 0, 0], [3, 0, -4]], np.float32)
    for p, wanted in ((1, [3 / 7, 0, -4 / 7]), (2, [0.6, 0, -0.8])):
        found = Asked.of("LpNormalization", "float", [("input", data)], {"p": p, "axis": 1})
        assert not found.wrong(np.array([[0, 0, 0], wanted], np.float32)).any()
        assert found.wrong(np.array([[np.nan] * 3, wanted], np.float32)).sum() == 3


def by_mpmath(call: str, x: list[Any]) -> list[Any]:
    """The text's formula of a lane, by an independent library."""
    if call == "selu":
        return [mpmath.mpf(GAMMA) * (each if each > 0 else ALPHA * mpmath.expm1(each)) for each in x]
    if call == "swiglu":
        return [a / (1 + mpmath.exp(-1.25 * a)) * b for a, b in zip(x, reversed(x), strict=True)]
    if call == "lp1":
        return [each / mpmath.fsum(map(abs, x)) for each in x]
    return [each / mpmath.sqrt(mpmath.fsum(other * other for other in x)) for each in x]


@pytest.mark.parametrize("call", ["selu", "swiglu", "lp1", "lp2"])
def test_values_are_those_of_mpmath_rounded_once(call: str) -> None:
    data = data_of("float")
    expected = asked(call, "float").accepted[0][0].expected.array
    for row, found in zip(data.tolist(), expected.tolist(), strict=True):
        with mpmath.workprec(300):
            exact = by_mpmath(call, [mpmath.mpf(each) for each in row])
        with mpmath.workprec(24):
            assert [float(+each) for each in exact] == found
