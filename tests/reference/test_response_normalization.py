"""LRN against mpmath, honest programs, and faulty ones."""

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
Program = Callable[[Array, float, float, float, int], Array]


def regions(x: Array, size: int, *, before: int | None = None) -> list[Array]:
    """The channels around each, by two bounds and a slice."""
    first = (size - 1) // 2 if before is None else before
    return [x[:, max(0, at - first) : at - first + size] for at in range(x.shape[1])]


def by_sums(x: Array, alpha: float, beta: float, bias: float, size: int) -> Array:
    kind = x.dtype.type
    sums = np.stack([(region * region).sum(axis=1, dtype=kind) for region in regions(x, size)], axis=1)
    return np.asarray(x / np.power(kind(bias) + kind(alpha) / kind(size) * sums, kind(beta)))


def by_means(x: Array, alpha: float, beta: float, bias: float, size: int) -> Array:
    kind = x.dtype.type
    padded = np.pad(x, ((0, 0), ((size - 1) // 2, size // 2), (0, 0), (0, 0)))
    total = np.zeros_like(x)
    for at in range(size):
        total = total + padded[:, at : at + x.shape[1]] ** 2
    return np.asarray(x * np.power(total / kind(size) * kind(alpha) + kind(bias), -kind(beta)))


def by_roots(x: Array, alpha: float, beta: float, bias: float, size: int) -> Array:
    """The power 0.75 by two roots, as libraries have it; other powers by themselves."""
    if beta != 0.75:
        return by_sums(x, alpha, beta, bias, size)
    kind = x.dtype.type
    sums = np.stack([(region * region).sum(axis=1, dtype=kind) for region in regions(x, size)], axis=1)
    root = np.sqrt(kind(alpha) * sums / kind(size) + kind(bias))
    return np.asarray(x / (root * np.sqrt(root)))


def widened(program: Program) -> Program:
    def found(x: Array, alpha: float, beta: float, bias: float, size: int) -> Array:
        return program(x.astype(np.float64), alpha, beta, bias, size).astype(x.dtype)

    return found


PROGRAMS: dict[str, Program] = {
    "sums": by_sums,
    "means": by_means,
    "roots": by_roots,
    "in double": widened(by_sums),
}


FAULTS: dict[str, Program] = {
    "not divided by the size": lambda x, a, b, k, n: by_sums(x, a * n, b, k, n),
    "a channel less": lambda x, a, b, k, n: by_sums(x, a * (n - 1) / n, b, k, n - 1),
    "a channel more": lambda x, a, b, k, n: by_sums(x, a * (n + 1) / n, b, k, n + 1),
    "the greater half first": lambda x, a, b, k, n: by_sums(x[:, ::-1], a, b, k, n)[:, ::-1],
    "without the bias": lambda x, a, b, k, n: by_sums(x, a, b, 0.0, n),
    "bias without its fraction": lambda x, a, b, k, n: by_sums(x, a, b, float(int(k)), n),
    "a root for the power": lambda x, a, b, k, n: by_sums(x, a, 0.5, k, n),
    "values for squares": lambda x, a, b, k, n: by_sums(np.sqrt(abs(x)), a, b, k, n) / np.sqrt(abs(x)) * x,
    "squares of a half precision": lambda x, a, b, k, n: (
        x / by_sums(x.astype(np.float16).astype(np.float32), a, b, k, n) * by_sums(x, a, b, k, n) ** 2 / x
    ),
    "along the last axis": lambda x, a, b, k, n: by_sums(x.swapaxes(1, 3), a, b, k, n).swapaxes(1, 3),
    "over the batch": lambda x, a, b, k, n: by_sums(x.swapaxes(0, 1), a, b, k, n).swapaxes(0, 1),
}
CALLS = [(1.5, 0.75, 1.25, 4), (1e-4, 0.75, 1.0, 5), (10.0, 0.5, 2.5, 3), (1.0, 2.0, 0.5, 2)]


@cache
def data_of(kind: str) -> Array:
    draw = np.random.default_rng(41)
    signs = draw.choice((-1, 1), (2, 6, 3, 6))
    found: Array = (signs * draw.uniform(0.5, 9, (2, 6, 3, 6))).astype(KINDS[kind])
    return found


@cache
def asked(kind: str, call: tuple[float, float, float, int]) -> Asked:
    alpha, beta, bias, size = call
    attributes = {"alpha": alpha, "beta": beta, "bias": bias, "size": size}
    return Asked.of("LRN", kind, [("X", data_of(kind))], attributes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", PROGRAMS)
@pytest.mark.parametrize("call", CALLS)
def test_an_honest_program_is_accepted(way: str, kind: str, call: tuple[float, float, float, int]) -> None:
    alpha, beta, bias = (float(np.float32(each)) for each in call[:3])
    got = PROGRAMS[way](data_of(kind), alpha, beta, bias, call[3]).astype(KINDS[kind])
    assert not asked(kind, call).wrong(got).any()


@pytest.mark.parametrize("way", FAULTS)
def test_a_faulty_program_is_not(way: str) -> None:
    call = CALLS[0]
    with np.errstate(all="ignore"):
        got = FAULTS[way](data_of("float"), *call).astype(np.float32)
    assert np.count_nonzero(asked("float", call).wrong(got)) >= 10


@pytest.mark.parametrize("call", CALLS)
def test_values_are_those_of_mpmath(call: tuple[float, float, float, int]) -> None:
    x, size = data_of("double"), call[3]
    alpha, beta, bias = (mpmath.mpf(float(np.float32(each))) for each in call[:3])
    found = asked("double", call).accepted[0][0].expected.array
    with mpmath.workprec(200):
        for image, channel, row, column in np.ndindex(*x.shape):
            low, high = channel - (size - 1) // 2, channel + -(-(size - 1) // 2)
            squares = mpmath.fsum(
                mpmath.mpf(float(x[image, each, row, column])) ** 2
                for each in range(max(0, low), min(x.shape[1] - 1, high) + 1)
            )
            exact = (
                mpmath.mpf(float(x[image, channel, row, column])) / (bias + alpha / size * squares) ** beta
            )
            assert abs(float(found[image, channel, row, column]) / exact - 1) < 3e-16


def test_size_beyond_the_channels_takes_all_of_them() -> None:
    x = np.array([3.0, 4.0, 12.0], np.float32).reshape(1, 3, 1)
    attributes = {"alpha": 2.0**30, "beta": 0.5, "bias": 1.0, "size": 2**30}
    found = Asked.of("LRN", "float", [("X", x)], attributes).accepted[0][0].expected.array
    assert np.allclose(found, x / np.sqrt(170), rtol=1e-7)
