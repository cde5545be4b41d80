"""Elu, Celu, Softsign, Softplus, Mish, Swish and Gelu against mpmath, honest programs, and faulty ones."""

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
Program = Callable[[Array, Callable[[float], Any]], Array]
"""Of an array and of what makes a constant of its type; every operation is in that type."""
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "elu": ("Elu", {"alpha": 1.5}),
    "celu": ("Celu", {"alpha": 2.5}),
    "softsign": ("Softsign", {}),
    "softplus": ("Softplus", {}),
    "mish": ("Mish", {}),
    "swish": ("Swish", {"alpha": 1.25}),
    "gelu": ("Gelu", {}),
    "gelu by tanh": ("Gelu", {"approximate": "tanh"}),
}
_ERF, _ERFC = (np.vectorize(each, otypes=[np.float64]) for each in (math.erf, math.erfc))


def erf(x: Array) -> Array:
    return np.asarray(_ERF(x.astype(np.float64)).astype(x.dtype))


def erfc(x: Array) -> Array:
    return np.asarray(_ERFC(x.astype(np.float64)).astype(x.dtype))


def cube(x: Array, c: Callable[[float], Any]) -> Array:
    return np.asarray(x + c(0.044715) * (x * x * x))


def ratio(x: Array, c: Callable[[float], Any]) -> Array:
    """x * tanh(ln(1 + e^x)), with n = e^x (e^x + 2), as x * n / (n + 2)."""
    power = np.exp(x)
    return np.asarray(x * ((power * (power + c(2))) / (power * (power + c(2)) + c(2))))


PROGRAMS: dict[tuple[str, str], Program] = {
    ("elu", "as written"): lambda x, c: np.where(x < 0, c(1.5) * (np.exp(x) - c(1)), x),
    ("elu", "by expm1"): lambda x, c: np.where(x < 0, c(1.5) * np.expm1(x), x),
    ("elu", "taken apart"): lambda x, c: np.where(x < 0, c(1.5) * np.exp(x) - c(1.5), x),
    ("celu", "as written"): lambda x, c: (
        np.maximum(c(0), x) + np.minimum(c(0), c(2.5) * (np.exp(x / c(2.5)) - c(1)))
    ),
    ("celu", "by expm1"): lambda x, c: np.where(x < 0, c(2.5) * np.expm1(x / c(2.5)), x),
    ("celu", "by the reciprocal"): lambda x, c: np.where(x < 0, c(2.5) * np.expm1(x * (c(1) / c(2.5))), x),
    ("celu", "taken apart"): lambda x, c: np.where(x < 0, c(2.5) * np.exp(x / c(2.5)) - c(2.5), x),
    ("softsign", "as written"): lambda x, c: x / (c(1) + np.abs(x)),
    ("softsign", "by the reciprocal"): lambda x, c: x * (c(1) / (c(1) + np.abs(x))),
    ("softplus", "as written"): lambda x, c: np.log(np.exp(x) + c(1)),
    ("softplus", "by log1p"): lambda x, c: np.log1p(np.exp(x)),
    ("softplus", "without overflow"): lambda x, c: np.maximum(x, c(0)) + np.log1p(np.exp(-np.abs(x))),
    ("softplus", "by two logarithms"): lambda x, c: np.logaddexp(x.astype(np.float64), 0.0).astype(x.dtype),
    ("softplus", "straight above 40"): lambda x, c: np.where(x > 40, x, np.log1p(np.exp(x))),
    ("mish", "as written"): lambda x, c: x * np.tanh(np.log(c(1) + np.exp(x))),
    ("mish", "by log1p"): lambda x, c: x * np.tanh(np.log1p(np.exp(x))),
    ("mish", "without overflow"): lambda x, c: (
        x * np.tanh(np.maximum(x, c(0)) + np.log1p(np.exp(-np.abs(x))))
    ),
    ("mish", "by a quotient"): lambda x, c: np.where(x > 4, x * np.tanh(np.log1p(np.exp(x))), ratio(x, c)),
    ("swish", "as written"): lambda x, c: x * (c(1) / (c(1) + np.exp(-(c(1.25) * x)))),
    ("swish", "one quotient"): lambda x, c: x / (c(1) + np.exp(-(c(1.25) * x))),
    ("swish", "by the negative power"): lambda x, c: np.where(
        x > 0,
        x / (c(1) + np.exp(-(c(1.25) * np.abs(x)))),
        x * (np.exp(-(c(1.25) * np.abs(x))) / (c(1) + np.exp(-(c(1.25) * np.abs(x))))),
    ),
    ("gelu", "as written"): lambda x, c: c(0.5) * x * (c(1) + erf(x / np.sqrt(c(2)))),
    ("gelu", "root multiplied"): lambda x, c: x * (c(0.5) * (c(1) + erf(x * c(math.sqrt(0.5))))),
    ("gelu", "product last"): lambda x, c: c(0.5) * (x * (c(1) + erf(x * c(math.sqrt(0.5))))),
    ("gelu", "by erfc"): lambda x, c: c(0.5) * x * erfc(-x * c(math.sqrt(0.5))),
    ("gelu by tanh", "as written"): lambda x, c: (
        c(0.5) * x * (c(1) + np.tanh(np.sqrt(c(2) / c(math.pi)) * cube(x, c)))
    ),
    ("gelu by tanh", "by pow"): lambda x, c: (
        c(0.5) * x * (c(1) + np.tanh(c(math.sqrt(2 / math.pi)) * (x + c(0.044715) * x ** c(3))))
    ),
    ("gelu by tanh", "x outside"): lambda x, c: (
        c(0.5)
        * x
        * (c(1) + np.tanh(x * (c(math.sqrt(2 / math.pi) * 0.044715) * x * x + c(math.sqrt(2 / math.pi)))))
    ),
    ("gelu by tanh", "x outside, not merged"): lambda x, c: (
        c(0.5) * x * (c(1) + np.tanh(c(math.sqrt(2 / math.pi)) * x * (c(1) + c(0.044715) * x * x)))
    ),
    ("gelu by tanh", "by an exponential"): lambda x, c: (
        x / (c(1) + np.exp(c(-2 * math.sqrt(2 / math.pi)) * cube(x, c)))
    ),
}


def data_of(kind: str) -> Array:
    """Numbers of many magnitudes, around what programs do otherwise, and what is no number."""
    draw = np.random.default_rng(17)
    ends = {"float": 100, "double": 760, "float16": 20, "bfloat16": 100}[kind]
    found = np.concatenate(
        [
            draw.uniform(-1, 1, 150),
            draw.normal(0, 6, 200),
            10.0 ** draw.uniform(-20, 4, 100) * draw.choice([-1, 1], 100),
            draw.uniform(-ends, ends, 150),
            [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan],
        ]
    )
    with np.errstate(over="ignore"):
        return np.asarray(found.astype(KINDS[kind]))


@cache
def asked(call: str, kind: str) -> Asked:
    name, attributes = CALLS[call]
    given_name = "input" if name == "Softsign" else "X"
    return Asked.of(name, kind, [(given_name, data_of(kind))], attributes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("call", "way"), PROGRAMS)
def test_an_honest_program_is_accepted(call: str, way: str, kind: str) -> None:
    """In the type itself, rounded after each operation, and in double precision rounded at the end."""
    data, narrow = data_of(kind), KINDS[kind]
    with np.errstate(all="ignore"):
        got = np.asarray(PROGRAMS[call, way](data, narrow)).astype(narrow)
        wider = np.asarray(PROGRAMS[call, way](data.astype(np.float64), np.float64)).astype(narrow)
    for each in (got, wider):
        wrong = asked(call, kind).wrong(each)
        assert not wrong.any(), list(zip(data[wrong].tolist(), each[wrong].tolist(), strict=True))[:5]


FAULTS: dict[tuple[str, str], Program] = {
    ("elu", "alpha forgotten"): lambda x, c: np.where(x < 0, np.expm1(x), x),
    ("elu", "a table of 12 bits"): lambda x, c: np.where(
        x < 0, c(1.5) * (np.exp(np.round(x * c(4096)) / c(4096)) - c(1)), x
    ),
    ("celu", "not divided by alpha"): lambda x, c: np.where(x < 0, c(2.5) * np.expm1(x), x),
    ("celu", "alpha outside alone"): lambda x, c: np.where(x < 0, np.expm1(x / c(2.5)), x),
    ("softsign", "the root of a sum of squares"): lambda x, c: x / np.sqrt(c(1) + x * x),
    ("softplus", "straight above 7"): lambda x, c: np.where(x > 7, x, np.log1p(np.exp(x))),
    ("softplus", "exponential below -3"): lambda x, c: np.where(x < -3, np.exp(x), np.log1p(np.exp(x))),
    ("mish", "by a sigmoid"): lambda x, c: x / (c(1) + np.exp(-x)),
    ("mish", "the logarithm to the base of 2"): lambda x, c: x * np.tanh(np.log2(c(1) + np.exp(x))),
    ("mish", "a quotient for tanh"): lambda x, c: x * quotient(np.log1p(np.exp(x)), c),
    ("swish", "alpha forgotten"): lambda x, c: x / (c(1) + np.exp(-x)),
    ("swish", "sigmoid by tanh"): lambda x, c: x * (c(0.5) + c(0.5) * np.tanh(c(0.625) * x)),
    ("swish", "hard"): lambda x, c: x * np.clip(x / c(6) + c(0.5), 0, 1),
    ("gelu", "by tanh"): lambda x, c: PROGRAMS["gelu by tanh", "as written"](x, c),
    ("gelu", "by a sigmoid"): lambda x, c: x / (c(1) + np.exp(c(-1.702) * x)),
    ("gelu", "the root forgotten"): lambda x, c: c(0.5) * x * (c(1) + erf(x)),
    ("gelu by tanh", "by erf"): lambda x, c: PROGRAMS["gelu", "as written"](x, c),
    ("gelu by tanh", "0.0447"): lambda x, c: (
        c(0.5) * x * (c(1) + np.tanh(c(math.sqrt(2 / math.pi)) * (x + c(0.0447) * x * x * x)))
    ),
    ("gelu by tanh", "a quotient for tanh"): lambda x, c: (
        c(0.5) * x * (c(1) + quotient(c(math.sqrt(2 / math.pi)) * cube(x, c), c))
    ),
}


def quotient(x: Array, c: Callable[[float], Any]) -> Array:
    return np.asarray(np.clip(x * (c(27) + x * x) / (c(27) + c(9) * x * x), -1, 1))


@pytest.mark.parametrize(("call", "way"), FAULTS)
def test_a_faulty_program_is_not(call: str, way: str) -> None:
    data = data_of("float")
    with np.errstate(all="ignore"):
        got = np.asarray(FAULTS[call, way](data, np.float32)).astype(np.float32)
    assert np.count_nonzero(asked(call, "float").wrong(got)) >= 10


def test_a_line_above_20_is_too_early_for_doubles() -> None:
    data = data_of("double")
    with np.errstate(all="ignore"):
        got = np.where(data > 20, data, np.log1p(np.exp(data)))
    assert asked("softplus", "double").wrong(got).any()


def by_mpmath(call: str, x: Any) -> Any:
    """The text's formula, by an independent library."""
    found = {
        "elu": lambda: x if x >= 0 else mpmath.mpf(1.5) * mpmath.expm1(x),
        "celu": lambda: max(0, x) + min(0, mpmath.mpf(2.5) * mpmath.expm1(x / mpmath.mpf(2.5))),
        "softsign": lambda: x / (1 + abs(x)),
        "softplus": lambda: x + mpmath.log1p(mpmath.exp(-x)) if x > 0 else mpmath.log1p(mpmath.exp(x)),
        "mish": lambda: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
        "swish": lambda: x / (1 + mpmath.exp(-mpmath.mpf(1.25) * x)),
        "gelu": lambda: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2)),
        "gelu by tanh": lambda: (
            x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)))
        ),
    }
    return found[call]()


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("call", CALLS)
def test_values_are_those_of_mpmath_rounded_once(call: str, kind: str) -> None:
    data, compared = data_of(kind), 0
    expected = asked(call, kind).accepted[0][0].expected.array
    for value, got in zip(data.tolist(), expected.tolist(), strict=True):
        if math.isfinite(value) and value:
            with mpmath.workprec(400):
                exact = by_mpmath(call, mpmath.mpf(value))
            with mpmath.workprec(24 if kind == "float" else 53):
                wanted = float(+exact)
            if abs(wanted) > np.finfo(KINDS[kind]).tiny:
                assert got == wanted, value
                compared += 1
    assert compared > 400
