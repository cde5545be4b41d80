"""HannWindow, HammingWindow and BlackmanWindow against mpmath, honest programs, and faulty ones."""

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
Program = Callable[[str, int, bool, Any], Array]
FACTORS = {"Hann": (0.5, -0.5), "Hamming": (25 / 46, -21 / 46), "Blackman": (0.42, -0.5, 0.08)}
CODES = {"float": 1, "double": 11, "float16": 10, "bfloat16": 16}
CALLS = [(10, True), (10, False), (7, True), (67, False), (96, True), (2, False), (2, True), (1, True)]


def length(size: int, periodic: bool) -> int:
    return size if periodic else size - 1


def sum_of(factors: tuple[float, ...], step: Any, places: Array) -> Array:
    kind = places.dtype.type
    found = np.full_like(places, kind(factors[0]))
    for at, factor in enumerate(factors[1:], 1):
        found = found + kind(factor) * np.cos((places * step * kind(at)).astype(kind))
    return np.asarray(found)


def by_step(name: str, size: int, periodic: bool, kind: Any) -> Array:
    """As ONNX's function body has it: the circle divided by the length first."""
    return sum_of(FACTORS[name], kind(2 * np.pi) / kind(length(size, periodic)), np.arange(size).astype(kind))


def by_place(name: str, size: int, periodic: bool, kind: Any) -> Array:
    """As the printed examples have it: the place times the circle, divided at the end."""
    places = (kind(2 * np.pi) * np.arange(size).astype(kind)).astype(kind)
    return sum_of(FACTORS[name], kind(1), (places / kind(length(size, periodic))).astype(kind))


def by_sine(name: str, size: int, periodic: bool, kind: Any) -> Array:
    """Hann as the square of a sine."""
    if name != "Hann":
        return by_step(name, size, periodic, kind)
    places = np.arange(size).astype(kind)
    return np.asarray(np.sin((places * kind(np.pi) / kind(length(size, periodic))).astype(kind)) ** 2)


def widened(name: str, size: int, periodic: bool, kind: Any) -> Array:
    return by_step(name, size, periodic, np.float64).astype(kind)


def in_single(name: str, size: int, periodic: bool, kind: Any) -> Array:
    return by_step(name, size, periodic, np.float32).astype(kind)


PROGRAMS = {
    "by steps": by_step,
    "by places": by_place,
    "by the sine": by_sine,
    "in double": widened,
    "in float": in_single,
}


def made_of(*factors: float) -> Program:
    def found(name: str, size: int, periodic: bool, kind: Any) -> Array:
        step = 2 * np.pi / length(size, periodic)
        return sum_of(factors, step, np.arange(size).astype(np.float64)).astype(kind)

    return found


FAULTS: dict[str, tuple[str, Program]] = {
    "symmetric for periodic": ("Hann", lambda n, size, p, kind: by_step(n, size, not p, kind)),
    "a point later": ("Hann", lambda n, size, p, kind: np.roll(by_step(n, size, p, kind), 1)),
    "half the circle": ("Blackman", lambda n, size, p, kind: by_step(n, 2 * size, p, kind)[:size]),
    "without its square": ("Hann", lambda n, size, p, kind: np.sqrt(by_sine(n, size, p, kind))),
    "two digits of Hamming": ("Hamming", made_of(0.54, -0.46)),
    "Hann for Hamming": ("Hamming", made_of(0.5, -0.5)),
    "exact Blackman": ("Blackman", made_of(7938 / 18608, -9240 / 18608, 1430 / 18608)),
    "sign of the second wave": ("Blackman", made_of(0.42, -0.5, -0.08)),
    "in half precision": ("Blackman", lambda n, size, p, kind: by_step(n, size, p, np.float16).astype(kind)),
    "a short circle": ("Hann", lambda n, size, p, kind: made_short(size).astype(kind)),
}


def made_short(size: int) -> Array:
    return np.asarray(0.5 - 0.5 * np.cos(np.arange(size) * (2 * 3.14159 / size)))


@cache
def asked(name: str, kind: str, size: int, periodic: bool) -> Asked:
    attributes = {"periodic": int(periodic), "output_datatype": CODES[kind]}
    return Asked.of(f"{name}Window", kind, [("size", np.array(size, np.int64))], attributes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", PROGRAMS)
@pytest.mark.parametrize("name", FACTORS)
def test_an_honest_program_is_accepted(name: str, way: str, kind: str) -> None:
    for size, periodic in CALLS:
        got = PROGRAMS[way](name, size, periodic, KINDS[kind]).astype(KINDS[kind])
        assert not asked(name, kind, size, periodic).wrong(got).any(), (size, periodic)


@pytest.mark.parametrize("way", FAULTS)
def test_a_faulty_program_is_not(way: str) -> None:
    name, program = FAULTS[way]
    got = program(name, 67, True, np.float32).astype(np.float32)
    assert np.count_nonzero(asked(name, "float", 67, True).wrong(got)) >= 10


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize(("size", "periodic"), CALLS)
def test_values_are_those_of_mpmath(name: str, size: int, periodic: bool) -> None:
    exact = {"Hann": ("1/2", "-1/2"), "Hamming": ("25/46", "-21/46"), "Blackman": ("21/50", "-1/2", "2/25")}
    found = asked(name, "double", size, periodic).accepted[0][0].expected.array
    with mpmath.workprec(200):
        for place in range(size):
            angle = 2 * mpmath.pi * place / length(size, periodic)
            wanted = mpmath.fsum(
                mpmath.mpf(int(top)) / int(bottom) * mpmath.cos(at * angle)
                for at, (top, bottom) in enumerate(each.split("/") for each in exact[name])
            )
            assert abs(float(found[place]) - float(wanted)) <= 1e-16


def test_integers_are_zeros_but_where_the_window_is_one() -> None:
    """Truncated: between two zeros nothing but the middle can be one, and may be beside it."""
    attributes = {"periodic": 1, "output_datatype": 7}
    found = Asked.of("HannWindow", "double", [("size", np.array(10, np.int64))], attributes)
    truncated = found.accepted[0][0]
    assert truncated.expected.array.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert [(alternative.index, tuple(alternative.values)) for alternative in truncated.alternatives] == [
        (5, (0,))
    ]
    nearest = [each[0].expected.array.tolist() for each in found.accepted]
    assert [0, 0, 0, 1, 1, 1, 1, 1, 0, 0] in nearest


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("periodic", [0, 1])
def test_no_points_are_an_empty_window(name: str, periodic: int) -> None:
    found = Asked.of(f"{name}Window", "float", [("size", np.array(0, np.int32))], {"periodic": periodic})
    assert found.accepted[0][0].expected.array.shape == (0,)
