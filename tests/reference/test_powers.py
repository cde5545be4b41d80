"""Pow against mpmath, C's pow and integers of Python; honest programs, and faulty ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.tensors import tensor
from reference.answers import Answer, OutsideDomain
from reference.registry import find_operator
from reference.registry.reference_operator import ReferenceOperator
from tests.generator.declared import newest_operators
from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
Program = Callable[[Array, Array], Array]
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.0, 3.0, -3.0, math.inf, -math.inf, math.nan)


def by_squaring(x: Array, y: Array) -> Array:
    """Whole exponents by multiplication, halves by a root, others by the library; reciprocals at the end."""
    found = np.power(x, y)
    for at, (base, exponent) in enumerate(zip(x, y, strict=True)):
        size = abs(float(exponent))
        if size > 16 or size * 2 != int(size * 2):
            continue
        one = np.ones((), x.dtype)
        power = one
        for _ in range(int(size)):
            power = np.asarray(power * base, x.dtype)
        power = power * np.sqrt(base) if size != int(size) else power
        found[at] = power if exponent >= 0 else one / power
    return found


def newest_pow() -> ReferenceOperator:
    return find_operator(
        next(newest_operator for newest_operator in newest_operators() if newest_operator.name == "Pow")
    )


PROGRAMS: dict[str, Program] = {
    "the library": np.power,
    "multiplied": by_squaring,
    "in double": lambda x, y: np.power(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype),
    "logarithm in double": lambda x, y: np.exp2(
        y.astype(np.longdouble) * np.log2(x.astype(np.longdouble))
    ).astype(x.dtype),
}
FAULTS: dict[str, Program] = {
    "logarithm in float": lambda x, y: np.exp(y * np.log(x)),
    "base and exponent exchanged": lambda x, y: np.power(y, x),
    "exponent without its fraction": lambda x, y: np.power(x, np.trunc(y)),
    "exponent rounded": lambda x, y: np.power(x, np.rint(y)),
    "sign of the exponent lost": lambda x, y: np.power(x, np.abs(y)),
    "a root in half precision": lambda x, y: np.power(x.astype(np.float16).astype(np.float32), y),
}


def data_of(kind: str) -> tuple[Array, Array]:
    """Positive bases, and those beside one with great exponents."""
    draw = np.random.default_rng(23)
    bases = np.concatenate([draw.uniform(0.1, 9, 60), 1 + draw.uniform(-1, 1, 40) * 2.0**-6])
    exponents = np.concatenate(
        [
            draw.integers(-6, 7, 30) / 2,
            draw.uniform(-3, 4, 30),
            draw.choice((-1, 1), 40) * draw.uniform(2500, 5000, 40),
        ]
    )
    return bases.astype(KINDS[kind]), exponents.astype(KINDS[kind])


@cache
def asked(kind: str) -> Asked:
    x, y = data_of(kind)
    return Asked.of("Pow", kind, [("X", x), ("Y", y)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", PROGRAMS)
def test_an_honest_program_is_accepted(way: str, kind: str) -> None:
    x, y = data_of(kind)
    with np.errstate(over="ignore", under="ignore"):
        got = PROGRAMS[way](x, y).astype(KINDS[kind])
    if kind == "double" and "double" in way and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("a logarithm needs more digits than its result")
    assert not asked(kind).wrong(got).any()


@pytest.mark.parametrize("way", FAULTS)
def test_a_faulty_program_is_not(way: str) -> None:
    x, y = data_of("float")
    with np.errstate(all="ignore"):
        got = FAULTS[way](x, y).astype(np.float32)
    assert np.count_nonzero(asked("float").wrong(got)) >= 10


def test_values_are_those_of_mpmath_rounded_once() -> None:
    x, y = data_of("float")
    expected = asked("float").accepted[0][0].expected.array.tolist()
    for base, exponent, found in zip(x.tolist(), y.tolist(), expected, strict=True):
        with mpmath.workprec(300):
            exact = mpmath.power(mpmath.mpf(base), mpmath.mpf(exponent))
        with mpmath.workprec(24):
            assert float(+exact) == found


def test_exact_powers_are_what_they_are() -> None:
    """Roots of squares, powers of two and products of few digits: no enclosure tells their last bit."""
    pairs = [(4, 0.5), (16, 0.25), (2.25, 1.5), (2, -149), (2, -126), (3, 15), (9, -0.5), (-2, 3), (-0.5, -3)]
    pairs += [(7.0, 1.0), (1.5, 2.0), (4097.0, 2.0), (8388607.0, 14.0), (1.0, 12345.0)]
    x, y = (np.array(each, np.float32) for each in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    found = Asked.of("Pow", "float", [("X", x), ("Y", y)]).accepted[0][0].expected.array
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["float", "double"])
def test_special_values_are_those_of_c_or_of_a_logarithm(kind: str) -> None:
    """All pairs: pow of the C library, as IEEE 754 has it; exp(y log(x)), where it is another, as well."""
    x, y = (each.reshape(-1).astype(KINDS[kind]) for each in np.meshgrid(SPECIALS, SPECIALS))
    found = Asked.of("Pow", kind, [("X", x), ("Y", y)])
    with np.errstate(all="ignore"):
        by_pow = np.power(x, y)
        by_logarithm = np.exp(y * np.log(x))
    # A negative base has no logarithm, and whole powers all the same.
    whole = (x < 0) & np.isfinite(x) & np.isfinite(y) & (y == np.trunc(y))
    by_logarithm[whole] = by_pow[whole]
    assert len(found.accepted) == 2
    for got in (by_pow, by_logarithm.astype(KINDS[kind])):
        assert not found.wrong(got).any(), list(zip(x, y, got, strict=True))
    mixed = by_pow.copy()
    mixed[(x == 0) & (y == 0)] = np.nan
    assert found.wrong(mixed).any()
    assert found.wrong(np.where(np.isinf(by_pow), 0, by_pow).astype(KINDS[kind])).any()


INTEGER_PROGRAMS: dict[str, Callable[[int, int, int, int], int]] = {
    "exact, wrapped": lambda exact, float_of, low, high: (exact - low) % (high - low + 1) + low,
    "exact, limited": lambda exact, float_of, low, high: min(max(exact, low), high),
    "double, the least integer beyond": lambda exact, float_of, low, high: (
        float_of if low <= float_of <= high else low
    ),
    "double, limited": lambda exact, float_of, low, high: min(max(float_of, low), high),
}
INTEGER_FAULTS: dict[str, Callable[[int, int, int, int], int]] = {
    "the other end": lambda exact, float_of, low, high: low + 1 if exact > high else high,
    "nothing": lambda exact, float_of, low, high: 5,
    "one too many": lambda exact, float_of, low, high: (exact + 1 - low) % (high - low + 1) + low,
    "in 31 bits": lambda exact, float_of, low, high: exact % 2**31 + 2**20,
}
WHOLE = [(2, 30), (3, 19), (-3, 3), (0, 0), (0, 5), (7, 11), (-1, 9), (10, 18), (9, 19), (-9, 9)]
BEYOND = [
    (2, 64),
    (3, 41),
    (3, 81),
    (-3, 81),
    (-7, 25),
    (10, 100),
    (-10, 101),
    (46341, 5),
    (-5, 29),
    (7, 200),
]
BESIDE = [(2**63 - 1, 1), (-(2**63), 1), (3037000499, 2), (2097151, 3), (-2097151, 3), (7, 22)]


def _integers_answered(kind: str, exponents: str, pairs: list[tuple[int, int]], overflow: str) -> Answer:
    x, y = (np.array(each) for each in zip(*pairs, strict=True))
    given = {"X": tensor(x.astype(kind)), "Y": tensor(y.astype(exponents))}
    return newest_pow().evaluate({}, given, {"integer_overflow": overflow})[0]


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("exponents", ["uint8", "int64", "float32"])
def test_integers_are_those_of_python(kind: str, exponents: str) -> None:
    answer = _integers_answered(kind, exponents, WHOLE, "wrap")
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    if exponents == "float32":
        low, high = max(low, -(2**53)), min(high, 2**53)
    assert answer.allowed is not None
    for (base, exponent), got, allowed in zip(
        WHOLE, answer.expected.array.tolist(), answer.allowed.tolist(), strict=True
    ):
        if low <= base**exponent <= high:
            assert (got, allowed) == (base**exponent, 0)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("exponents", ["uint8", "int64", "float32", "double"])
def test_integers_beyond_the_type_are_those_of_honest_programs(kind: str, exponents: str) -> None:
    """What onnx.reference, ONNX Runtime (on x86, as WebAssembly), tract and nxrt answer, and no more."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    pairs = WHOLE + BEYOND + (BESIDE if kind == "int64" else [])
    answers = [_integers_answered(kind, exponents, pairs, each) for each in ("wrap", "saturate")]

    def accepted(program: Callable[[int, int, int, int], int]) -> list[bool]:
        got = [program(base**exponent, int(float(base) ** exponent), low, high) for base, exponent in pairs]
        return [all(_is_accepted(answer, at, each) for at, each in enumerate(got)) for answer in answers]

    exact = [program for name, program in INTEGER_PROGRAMS.items() if "exact" in name]
    assert all(any(accepted(program)) for program in exact)
    if exponents in ("float32", "double"):
        assert all(any(accepted(program)) for program in INTEGER_PROGRAMS.values())
    for fault in INTEGER_FAULTS.values():
        for at, (base, exponent) in enumerate(pairs):
            if not low <= base**exponent <= high:
                wrong = fault(base**exponent, 0, low, high)
                assert not any(_is_accepted(answer, at, wrong) for answer in answers)


def _is_accepted(answer: Answer, at: int, got: int) -> bool:
    assert answer.allowed is not None
    others = (answer.alternatives or {}).get(at, ())
    return abs(got - int(answer.expected.array[at])) <= answer.allowed[at] or got in map(int, others)


@pytest.mark.parametrize("exponent", [-1.0, 0.5, math.inf, math.nan])
def test_integers_have_whole_powers_that_are_not_negative_alone(exponent: float) -> None:
    with pytest.raises(OutsideDomain, match="whole and not negative"):
        newest_pow().evaluate({}, {"X": tensor(np.array([0, 4])), "Y": tensor(np.array([1.0, exponent]))})


def test_an_exponent_of_another_type_may_be_rounded_to_that_of_the_base() -> None:
    x = np.array([2.0, 9.0, 0.3], np.float32)
    y = np.array([0.1, 1 / 3, -2.7], np.float64)
    answer = newest_pow().evaluate({}, {"X": tensor(x), "Y": tensor(y)})[0]
    for exponents in (y, y.astype(np.float32)):
        got = np.power(x.astype(np.float64), exponents)
        assert (np.abs(got - answer.expected.array) <= answer.allowed).all()
    assert (np.abs(np.power(x, y + 1e-4) - answer.expected.array) > answer.allowed).all()


def test_a_flushed_exponent_or_base_changes_the_power() -> None:
    """A subnormal base may be zero: its root is small or zero, its reciprocal great or infinite."""
    tiny = np.float32(1e-40)
    x, y = np.array([tiny, tiny, 3.0], np.float32), np.array([0.5, -0.5, tiny], np.float32)
    found = Asked.of("Pow", "float", [("X", x), ("Y", y)])
    with np.errstate(divide="ignore"):
        for flushed in (False, True):
            zeros = np.float32(0 if flushed else 1)
            base, exponent = (
                x * np.array([zeros, zeros, 1], np.float32),
                y * np.array([1, 1, zeros], np.float32),
            )
            assert not found.wrong(np.power(base, exponent)).any()


def test_exponents_are_broadcast() -> None:
    x, y = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.array([[2], [0.5]], np.float32)
    found = Asked.of("Pow", "float", [("X", x), ("Y", y)])
    assert not found.wrong(np.power(x, y)).any()
