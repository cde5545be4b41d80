"""BatchNormalization by given statistics, in the versions that have no attribute for training."""

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
EPSILON = float(np.float32(1e-3))
Program = Callable[[Array, Array, Array, Array, Array, Any], Array]


def by_deviation(x: Array, scale: Array, b: Array, mean: Array, var: Array, epsilon: Any) -> Array:
    return np.asarray((x - mean) / np.sqrt(var + epsilon) * scale + b)


def by_reciprocal(x: Array, scale: Array, b: Array, mean: Array, var: Array, epsilon: Any) -> Array:
    return np.asarray((x - mean) * (x.dtype.type(1) / np.sqrt(var + epsilon)) * scale + b)


def by_slope(x: Array, scale: Array, b: Array, mean: Array, var: Array, epsilon: Any) -> Array:
    slope = scale / np.sqrt(var + epsilon)
    return np.asarray(x * slope + (b - mean * slope))


def by_two_quotients(x: Array, scale: Array, b: Array, mean: Array, var: Array, epsilon: Any) -> Array:
    """What constants are folded to where mean * scale is formed before the division."""
    deviation = np.sqrt(var + epsilon)
    return np.asarray(x * (scale / deviation) + (b - mean * scale / deviation))


def in_double(x: Array, *given: Any) -> Array:
    return by_deviation(x.astype(np.float64), *given).astype(x.dtype)


def of_the_batch(x: Array, scale: Array, b: Array, mean: Array, var: Array, epsilon: Any) -> Array:
    own = x.mean(axis=(0, 2), keepdims=True), x.var(axis=(0, 2), keepdims=True)
    return by_deviation(x, scale, b, *own, epsilon)


PROGRAMS: dict[str, Program] = {
    "by the deviation": by_deviation,
    "by the reciprocal": by_reciprocal,
    "by a slope": by_slope,
    "by two quotients": by_two_quotients,
    "in double": in_double,
}
FAULTS: dict[str, Program] = {
    "statistics of the batch": of_the_batch,
    "epsilon outside the root": lambda x, s, b, m, v, e: (x - m) / (np.sqrt(v) + e) * s + b,
    "no epsilon": lambda x, s, b, m, v, e: by_deviation(x, s, b, m, v, 0 * e),
    "another epsilon": lambda x, s, b, m, v, e: by_deviation(x, s, b, m, v, e / 100),
    "no root": lambda x, s, b, m, v, e: (x - m) / (v + e) * s + b,
    "scale and bias exchanged": lambda x, s, b, m, v, e: by_deviation(x, b, s, m, v, e),
    "mean left out": lambda x, s, b, m, v, e: by_deviation(x, s, b, 0 * m, v, e),
    "bias scaled": lambda x, s, b, m, v, e: ((x - m) / np.sqrt(v + e) + b) * s,
}


def data_of(kind: str) -> tuple[Array, ...]:
    """Elements of four channels, and a scale, bias, mean and variance of each."""
    draw = np.random.default_rng(61)
    x, scale, b, mean = draw.uniform(-4, 9, (3, 4, 7)), *(draw.uniform(-2, 3, 4) for _ in range(3))
    return tuple(array.astype(KINDS[kind]) for array in (x, scale, b, mean, draw.uniform(0.05, 3, 4)))


@cache
def asked(kind: str) -> Asked:
    names = ("X", "scale", "B", "mean", "var")
    inputs = list(zip(names, data_of(kind), strict=True))
    attributes = {"epsilon": EPSILON, "momentum": 0.5}
    return Asked.of("BatchNormalization", kind, inputs, attributes, version=9, outputs=("Y",))


def result_of(program: Program, kind: str) -> Array:
    x, *channels = data_of(kind)
    columns = [channel.reshape(-1, 1) for channel in channels]
    return program(x, columns[0], columns[1], columns[2], columns[3], x.dtype.type(EPSILON)).astype(x.dtype)


@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize("way", PROGRAMS)
def test_an_honest_program_is_accepted(way: str, kind: str) -> None:
    assert not asked(kind).wrong(result_of(PROGRAMS[way], kind)).any()


@pytest.mark.parametrize("way", PROGRAMS)
def test_an_honest_program_is_accepted_where_all_numbers_are_near_one(way: str) -> None:
    """There the products of a folded program are larger than the result, and their roundings show."""
    draw = np.random.default_rng(7)
    for _ in range(20):
        x, *channels = (draw.uniform(1, 2, each).astype(np.float32) for each in ((3, 4, 7), 4, 4, 4, 4))
        inputs = list(zip(("X", "scale", "B", "mean", "var"), (x, *channels), strict=True))
        found = Asked.of(
            "BatchNormalization", "float", inputs, {"epsilon": EPSILON}, version=9, outputs=("Y",)
        )
        scale, b, mean, var = (channel.reshape(-1, 1) for channel in channels)
        assert not found.wrong(PROGRAMS[way](x, scale, b, mean, var, np.float32(EPSILON))).any()


@pytest.mark.parametrize("way", FAULTS)
def test_a_faulty_program_is_not(way: str) -> None:
    assert np.count_nonzero(asked("float").wrong(result_of(FAULTS[way], "float"))) >= 10


def test_values_are_those_of_mpmath() -> None:
    x, scale, b, mean, var = data_of("double")
    found = asked("double").accepted[0][0].expected.array
    with mpmath.workprec(200):
        for image, channel, place in np.ndindex(*x.shape):
            exact = [mpmath.mpf(float(array[channel])) for array in (scale, b, mean, var)]
            deviation = mpmath.sqrt(exact[3] + mpmath.mpf(EPSILON))
            wanted = (mpmath.mpf(float(x[image, channel, place])) - exact[2]) / deviation * exact[0] + exact[
                1
            ]
            assert abs(float(found[image, channel, place]) - float(wanted)) <= 1e-15 * abs(float(wanted))


NAMES = ("X", "scale", "B", "mean", "var")


def test_older_statistics_of_channels_are_those_of_newer_ones() -> None:
    inputs = list(zip(NAMES, data_of("float"), strict=True))
    for given in ({"epsilon": EPSILON}, {"epsilon": EPSILON, "spatial": 1}):
        older = Asked.of("BatchNormalization", "float", inputs, given, version=7, outputs=("Y",))
        newer = Asked.of(
            "BatchNormalization", "float", inputs, {"epsilon": EPSILON}, version=9, outputs=("Y",)
        )
        first, other = older.accepted[0][0], newer.accepted[0][0]
        assert (first.expected.array == other.expected.array).all()
        assert first.allowed is not None
        assert other.allowed is not None
        assert (first.allowed == other.allowed).all()


def places_of(kind: str) -> tuple[Array, ...]:
    """Elements of four channels, and a scale, bias, mean and variance of each place of a channel."""
    draw = np.random.default_rng(67)
    x, *given = draw.uniform(-4, 9, (3, 4, 7)), *(draw.uniform(-2, 3, (4, 7)) for _ in range(3))
    return tuple(array.astype(KINDS[kind]) for array in (x, *given, draw.uniform(0.05, 3, (4, 7))))


@cache
def asked_by_place(kind: str) -> Asked:
    inputs = list(zip(NAMES, places_of(kind), strict=True))
    given = {"epsilon": EPSILON, "spatial": 0}
    return Asked.of("BatchNormalization", kind, inputs, given, version=7, outputs=("Y",))


def by_place(program: Program, kind: str) -> Array:
    x, scale, b, mean, var = places_of(kind)
    return program(x, scale, b, mean, var, x.dtype.type(EPSILON)).astype(x.dtype)


@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize("way", PROGRAMS)
def test_an_honest_program_of_places_is_accepted(way: str, kind: str) -> None:
    assert not asked_by_place(kind).wrong(by_place(PROGRAMS[way], kind)).any()


@pytest.mark.parametrize("way", [fault for fault in FAULTS if fault != "statistics of the batch"])
def test_a_faulty_program_of_places_is_not(way: str) -> None:
    assert np.count_nonzero(asked_by_place("float").wrong(by_place(FAULTS[way], "float"))) >= 10


def test_statistics_of_channels_are_not_those_of_places() -> None:
    x, *given = places_of("float")
    columns = [array.mean(axis=1, keepdims=True) for array in given]
    found = by_deviation(x, columns[0], columns[1], columns[2], columns[3], np.float32(EPSILON))
    assert np.count_nonzero(asked_by_place("float").wrong(found.astype(np.float32))) >= 40


def test_values_of_places_are_those_of_mpmath() -> None:
    x, scale, b, mean, var = places_of("double")
    found = asked_by_place("double").accepted[0][0].expected.array
    with mpmath.workprec(200):
        for image, channel, place in np.ndindex(*x.shape):
            own = [mpmath.mpf(float(array[channel, place])) for array in (scale, b, mean, var)]
            apart = mpmath.mpf(float(x[image, channel, place])) - own[2]
            wanted = apart / mpmath.sqrt(own[3] + mpmath.mpf(EPSILON)) * own[0] + own[1]
            assert abs(float(found[image, channel, place]) - float(wanted)) <= 1e-15 * abs(float(wanted))
