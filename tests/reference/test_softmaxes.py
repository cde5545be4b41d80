"""Softmax, LogSoftmax, ReduceLogSum and ReduceLogSumExp against mpmath, honest programs, and faulty ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
Program = Callable[[Array], Array]
"""Of rows; every operation is in their type."""
NAMES = ("Softmax", "LogSoftmax", "ReduceLogSum", "ReduceLogSumExp")


def added(rows: Array) -> Array:
    """The sums of rows from their first element on, each rounded to their type."""
    found = rows[..., :1]
    for at in range(1, rows.shape[-1]):
        found = (found + rows[..., at : at + 1]).astype(rows.dtype)
    return np.asarray(found)


def apart(x: Array) -> Array:
    return np.asarray(x - x.max(axis=-1, keepdims=True))


def powers(x: Array) -> Array:
    return np.asarray(np.exp(apart(x)))


PROGRAMS: dict[tuple[str, str], Program] = {
    ("Softmax", "the greatest subtracted"): lambda x: powers(x) / added(powers(x)),
    ("Softmax", "by the reciprocal"): lambda x: powers(x) * (x.dtype.type(1) / added(powers(x))),
    ("Softmax", "as written"): lambda x: np.exp(x) / added(np.exp(x)),
    ("Softmax", "by the logarithm"): lambda x: np.exp(apart(x) - np.log(added(powers(x)))),
    ("LogSoftmax", "the greatest subtracted"): lambda x: apart(x) - np.log(added(powers(x))),
    ("LogSoftmax", "as written"): lambda x: np.log(np.exp(x) / added(np.exp(x))),
    ("LogSoftmax", "of a softmax without overflow"): lambda x: np.log(powers(x) / added(powers(x))),
    ("ReduceLogSum", "as written"): lambda x: np.log(added(x)),
    ("ReduceLogSumExp", "as written"): lambda x: np.log(added(np.exp(x))),
    ("ReduceLogSumExp", "the greatest subtracted"): lambda x: (
        x.max(axis=-1, keepdims=True) + np.log(added(powers(x)))
    ),
}


TINY = {"float32": 2.0**-126, "float64": 2.0**-1022, "float16": 2.0**-14, "bfloat16": 2.0**-126}
"""The smallest normal numbers."""


def in_range(x: Array) -> Array:
    """The rows of which no exponential, nor their sum, overflows or underflows."""
    found = np.exp(x)
    least = 4 * TINY[x.dtype.name]
    return np.asarray(np.isfinite(added(found)[..., 0]) & (found > least).all(axis=-1))


FAULTS: dict[tuple[str, str], Program] = {
    ("Softmax", "a term left out of the sum"): lambda x: powers(x) / (added(powers(x)) - powers(x)[..., -1:]),
    ("Softmax", "a table of 12 bits"): lambda x: table(x) / added(table(x)),
    ("Softmax", "of the other axis"): lambda x: np.exp(x) / np.exp(x).sum(axis=0, keepdims=True),
    ("Softmax", "sums in half precision"): lambda x: (
        powers(x) / added(powers(x).astype(np.float16)).astype(x.dtype)
    ),
    ("LogSoftmax", "the greatest added to the logarithm"): lambda x: (
        x - (x.max(axis=-1, keepdims=True) + np.log(added(powers(x))))
    ),
    ("LogSoftmax", "a small number inside"): lambda x: np.log(
        powers(x) / added(powers(x)) + x.dtype.type(1e-6)
    ),
    ("LogSoftmax", "to the base of 2"): lambda x: np.log2(powers(x) / added(powers(x))),
    ("ReduceLogSum", "a term left out"): lambda x: np.log(added(x[..., :-1])),
    ("ReduceLogSum", "log1p"): lambda x: np.log1p(added(x)),
    ("ReduceLogSumExp", "the greatest forgotten"): lambda x: np.log(added(powers(x))),
    ("ReduceLogSumExp", "a table of 12 bits"): lambda x: (
        x.max(axis=-1, keepdims=True) + np.log(added(table(x)))
    ),
}


def table(x: Array) -> Array:
    return np.asarray(np.exp(np.round(apart(x) * 4096) / 4096).astype(x.dtype))


def data_of(name: str, kind: str) -> list[Array]:
    """Rows of several spreads and offsets: mild ones, then such that overflow or underflow as written."""
    draw = np.random.default_rng(23)
    if name == "ReduceLogSum":
        return [
            np.abs(draw.normal(0, 3, (40, 5))).astype(KINDS[kind]),
            draw.uniform(0, 1e-3, (9, 4)).astype(KINDS[kind]),
        ]
    beyond = {"float": 88, "double": 709, "float16": 11, "bfloat16": 88}[kind]
    mild = [draw.normal(0, spread, (12, 5)) for spread in (0.1, 1, 3)]
    return [
        np.concatenate(
            [*mild, draw.uniform(0.9, 0.99, (6, 1)) * beyond * draw.choice([0, 1], (6, 5))]
        ).astype(KINDS[kind]),
        draw.normal(0, 2, (12, 1)).astype(KINDS[kind]),
        (draw.normal(0, 3, (8, 6)) + 1.3 * beyond).astype(KINDS[kind]),
        (draw.normal(0, 3, (8, 6)) - 1.3 * beyond).astype(KINDS[kind]),
        (draw.normal(0, 3, (8, 6)) - 0.97 * beyond).astype(KINDS[kind]),
        draw.uniform(-2 * beyond, 2 * beyond, (16, 3)).astype(KINDS[kind]),
    ]


@cache
def asked(name: str, kind: str, at: int) -> Asked:
    data = data_of(name, kind)[at]
    if name.startswith("Reduce"):
        return Asked.of(name, kind, [("data", data), ("axes", np.array([-1]))])
    return Asked.of(name, kind, [("input", data)], {"axis": -1})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "way"), PROGRAMS)
def test_an_honest_program_is_accepted(name: str, way: str, kind: str) -> None:
    """In the type itself, rounded after each operation, and in double precision rounded at the end."""
    narrow = KINDS[kind]
    for at, data in enumerate(data_of(name, kind)):
        told: NDArray[np.bool_] = np.ones(len(data), np.bool_)
        with np.errstate(all="ignore"):
            if way == "as written" and name.endswith("Softmax"):
                told = in_range(data)
            elif way == "of a softmax without overflow":
                told = np.asarray((powers(data) > 64 * TINY[data.dtype.name]).all(axis=-1))
        with np.errstate(all="ignore"):
            got = np.asarray(PROGRAMS[name, way](data)).astype(narrow)
            wider = np.asarray(PROGRAMS[name, way](data.astype(np.float64))).astype(narrow)
        for each in (got, wider):
            wrong = asked(name, kind, at).wrong(each) & told[:, None]
            assert not wrong.any(), (at, data[wrong.any(axis=-1)].tolist()[:2], each[wrong].tolist()[:4])


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_a_softmax_that_overflows_is_wrong(name: str) -> None:
    """An example prints its result for 10000 and what follows that."""
    for rows in ([[100.0, 0.0]], [[10000.0, 10001.0, 10002.0, 10003.0]], [[-200.0, -201.0]]):
        data = np.array(rows, np.float32)
        with np.errstate(all="ignore"):
            got = np.asarray(PROGRAMS[name, "as written"](data))
        assert Asked.of(name, "float", [("input", data)], {"axis": -1}).wrong(got).any(), rows


def test_the_logarithm_of_a_share_that_underflows_is_wrong() -> None:
    """The function body subtracts the logarithm of the sum, which is as exact here as elsewhere."""
    data = np.array([[0.0, -200.0, -104.0, -1.0]], np.float32)
    call = Asked.of("LogSoftmax", "float", [("input", data)], {"axis": -1})
    assert not call.wrong(PROGRAMS["LogSoftmax", "the greatest subtracted"](data)).any()
    with np.errstate(all="ignore"):
        got = PROGRAMS["LogSoftmax", "of a softmax without overflow"](data)
    assert call.wrong(got).tolist() == [[False, True, True, False]]


def test_what_underflows_is_the_result_or_minus_infinity() -> None:
    """Anything else is wrong, though a reading leaves open what a step comes to that underflows."""
    data, right = np.array([[-200.0, -300.0]], np.float32), np.array([[-200.0]], np.float32)
    call = Asked.of("ReduceLogSumExp", "float", [("data", data), ("axes", np.array([-1]))])
    far = right < -150
    assert not call.wrong(right).any()
    assert not call.wrong(np.where(far, np.float32(-np.inf), right)).any()
    for fault in (0.0, 1e30, -103.0, -1e30):
        assert (call.wrong(np.where(far, np.float32(fault), right)) == far).all(), fault
    assert call.wrong(np.where(far, right * np.float32(1.001), right))[far].all()


@pytest.mark.parametrize(("name", "way"), FAULTS)
def test_a_faulty_program_is_not(name: str, way: str) -> None:
    wrong = 0
    for at, data in enumerate(data_of(name, "float")):
        with np.errstate(all="ignore"):
            got = np.asarray(FAULTS[name, way](data)).astype(np.float32)
        wrong += int(np.count_nonzero(asked(name, "float", at).wrong(got)))
    assert wrong >= 10


def by_mpmath(name: str, row: list[Any]) -> list[Any]:
    """The text's formula, by an independent library."""
    if name == "ReduceLogSum":
        return [mpmath.log(mpmath.fsum(row))]
    summed = mpmath.fsum(map(mpmath.exp, row))
    if name == "ReduceLogSumExp":
        return [mpmath.log(summed)]
    shares = [mpmath.exp(each) / summed for each in row]
    return shares if name == "Softmax" else [mpmath.log(share) for share in shares]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_mpmath_rounded_once(name: str, kind: str) -> None:
    compared = 0
    for at, data in enumerate(data_of(name, kind)):
        expected = asked(name, kind, at).accepted[0][0].expected.array
        for row, found in zip(data.tolist(), expected.tolist(), strict=True):
            with mpmath.workprec(4000):
                exact = by_mpmath(name, [mpmath.mpf(each) for each in row])
            with mpmath.workprec(24 if kind == "float" else 53):
                wanted = [float(+each) for each in exact]
            for got, right in zip(found, wanted, strict=True):
                if abs(right) > np.finfo(KINDS[kind]).tiny:
                    assert got == right, row
                    compared += 1
    assert compared > 40


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_before_version_13_everything_from_the_axis_on_is_one_row(name: str, axis: int) -> None:
    data = np.random.default_rng(3).normal(0, 2, (2, 3, 4)).astype(np.float32)
    rows = data.reshape(math.prod(data.shape[:axis]), -1)
    got = PROGRAMS[name, "the greatest subtracted"](rows).reshape(data.shape)
    old = Asked.of(name, "float", [("input", data)], {"axis": axis}, version=11)
    new = Asked.of(name, "float", [("input", data)], {"axis": axis})
    assert not old.wrong(got).any()
    assert new.wrong(got).any() == (axis < 2)


def test_what_underflows_in_double_precision_is_as_far_off_as_that() -> None:
    """A program of doubles has one digit of exp(-745): floats of it are 0.56 off, as its steps are."""
    data = np.array([[-745.0], [-744.0], [-730.0]], np.float32)
    call = Asked.of("ReduceLogSumExp", "float", [("data", data), ("axes", np.array([-1]))])
    wide = data.astype(np.float64)
    got = np.log(np.exp(wide)).astype(np.float32)
    assert abs(got - data).max() > 0.5
    assert not call.wrong(got).any()
    assert call.wrong(data * np.float32(1.01)).sum() >= 3


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_the_reciprocal_of_a_large_sum_opens_nothing(name: str) -> None:
    """1 / exp(88) is no normal number: the formula as it is written has no digits to lose there."""
    data = np.array([[77.0, -52.0, -2.0, 88.0]], np.float32)
    call = Asked.of(name, "float", [("input", data)], {"axis": -1})
    right = PROGRAMS[name, "the greatest subtracted"](data)
    assert not call.wrong(right).any()
    for fault in (1.001, -1.0, np.nan):
        assert call.wrong(np.asarray(right * np.float32(fault)))[0, 0], fault
