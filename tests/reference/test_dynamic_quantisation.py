"""DynamicQuantizeLinear against fractions, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.honest_programs import Asked

Array = NDArray[Any]
Found = tuple[Array, Any, Any]
Program = Callable[[Array], Found]
ONE = np.float32(1)


def quantised(x: Array, scale: Any, start: Any, *, by_reciprocal: bool = False) -> Found:
    point = np.clip(np.rint(start), 0, 255)
    steps = x * (x.dtype.type(1) / scale) if by_reciprocal else x / scale
    return np.clip(np.rint(steps) + point, 0, 255), scale, point


def by_division(x: Array) -> Found:
    low, high = min(x.min(), 0 * ONE), max(x.max(), 0 * ONE)
    scale = np.float32((high - low) / np.float32(255))
    return quantised(x, scale, 0 * ONE - low / scale)


def by_reciprocals(x: Array) -> Found:
    low, high = min(x.min(), 0 * ONE), max(x.max(), 0 * ONE)
    scale = np.float32((high - low) * (ONE / np.float32(255)))
    return quantised(x, scale, -low * (ONE / scale), by_reciprocal=True)


def in_double(x: Array) -> Found:
    wide = x.astype(np.float64)
    low, high = min(wide.min(), 0.0), max(wide.max(), 0.0)
    y, scale, point = quantised(wide, (high - low) / 255, -low / ((high - low) / 255))
    return y, np.float32(scale), point


def with_range(low: Callable[[Array], Any], high: Callable[[Array], Any], steps: int = 255) -> Program:
    def found(x: Array) -> Found:
        scale = np.float32((high(x) - low(x)) / np.float32(steps))
        return quantised(x, scale, -low(x) / scale)

    return found


def with_rounding(rounded: Callable[[Array], Array], *, point_first: bool = False) -> Program:
    def found(x: Array) -> Found:
        _, scale, point = by_division(x)
        shifted = rounded(x / scale + point) if point_first else rounded(x / scale) + point
        return np.clip(shifted, 0, 255), scale, point

    return found


def least(x: Array) -> Any:
    return min(x.min(), 0 * ONE)


def greatest(x: Array) -> Any:
    return max(x.max(), 0 * ONE)


PROGRAMS: dict[str, Program] = {
    "divided": by_division,
    "by reciprocals": by_reciprocals,
    "in double": in_double,
}
FAULTS: dict[str, Program] = {
    "a range without zero": with_range(lambda x: x.min(), lambda x: x.max()),
    "254 steps": with_range(least, greatest, 254),
    "256 steps": with_range(least, greatest, 256),
    "a symmetric range": with_range(lambda x: -abs(x).max(), lambda x: abs(x).max()),
    "halves up": with_rounding(lambda array: np.floor(array + 0.5)),
    "halves away from zero": with_rounding(lambda array: np.trunc(array + np.copysign(0.5, array))),
    "truncated": with_rounding(np.trunc),
    "rounded behind the zero point": with_rounding(np.rint, point_first=True),
    "in half precision": lambda x: by_division(x.astype(np.float16).astype(np.float32)),
    "no zero point": lambda x: quantised(x, by_division(x)[1], 0 * ONE),
}


def data() -> Iterator[Array]:
    """Drawn numbers around zero, above it and below it; and halves of steps of a power of two."""
    draw = np.random.default_rng(53)
    for low, high in ((-3, 5), (2, 9), (-9, -2), (-1e-3, 4e3)):
        yield draw.uniform(low, high, (4, 25)).astype(np.float32)
    for below, step in ((37, 0.25), (100, 2.0), (0, 1.0), (255, 0.5)):
        halves = (draw.integers(0, 510, 60) / 2 - below) * step
        yield np.concatenate([halves, [-below * step, (255 - below) * step]]).astype(np.float32)


def wrong(x: Array, got: Found) -> int:
    """How many elements of the three outputs are outside of every expectation."""
    accepted = Asked.of("DynamicQuantizeLinear", "float", [("x", x)]).accepted
    return min(sum(map(outside, each, got)) for each in accepted)


def outside(output: Any, got: Any) -> int:
    apart = np.abs(output.expected.array.astype(np.float64) - np.asarray(got, np.float64))
    assert output.allowed is not None
    return int(np.count_nonzero(apart > output.allowed))


@pytest.mark.parametrize("way", PROGRAMS)
def test_an_honest_program_is_accepted(way: str) -> None:
    for x in data():
        assert wrong(x, PROGRAMS[way](x)) == 0


@pytest.mark.parametrize("way", FAULTS)
def test_a_faulty_program_is_not(way: str) -> None:
    assert sum(wrong(x, FAULTS[way](x)) for x in data()) >= 10


def test_values_are_those_of_fractions() -> None:
    for x in data():
        y, scale, point = Asked.of("DynamicQuantizeLinear", "float", [("x", x)]).accepted[0]
        given = [Fraction(float(each)) for each in x.reshape(-1)]
        low, high = min([Fraction(0), *given]), max([Fraction(0), *given])
        step = (high - low) / 255
        shift = min(max(round(-low / step), 0), 255)
        assert (float(scale.expected.array), int(point.expected.array)) == (
            float(np.float32(float(step))),
            shift,
        )
        found = [min(max(round(number / step) + shift, 0), 255) for number in given]
        assert y.expected.array.reshape(-1).tolist() == found


def test_the_scale_of_zeros_is_a_reading() -> None:
    x = np.array([0.0, -0.0, 0.0], np.float32)
    accepted = Asked.of("DynamicQuantizeLinear", "float", [("x", x)]).accepted
    scales = {float(each[1].expected.array) for each in accepted}
    assert scales == {0.0, 1.0, float(np.float32(1 / 255))}
    for each in accepted:
        assert wrong(x, (np.zeros(3), each[1].expected.array, np.zeros(()))) == 0
    assert wrong(x, (np.zeros(3), np.float32(0.5), np.zeros(()))) == 1
