"""LpPool and GlobalLpPool against mpmath, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor, tensor
from tests.reference.honest_programs import KINDS, Asked
from tests.reference.loops import answers, indices
from tests.reference.test_number_arrays import accepted
from tests.reference.test_pools_by_loops import some_data, some_pool, told

Array = NDArray[Any]
Program = Callable[[Array, int], Array]


def exact_norm(held: list[float], p: int) -> mpmath.mpf:
    with mpmath.workprec(400):
        return mpmath.root(mpmath.fsum(abs(mpmath.mpf(number)) ** p for number in held), p)


@pytest.mark.parametrize("name", ["float", "double"])
def test_the_norm_of_each_window(name: str) -> None:
    random = Random(name)
    for _ in range(60):
        pool, p = some_pool(random), random.randint(1, 4)
        X = some_data(random, pool, name)
        (got,) = answers("LpPool", 22, {"X": X}, **told(pool), p=p)
        assert got.expected.array.shape == (*X.shape[:2], *pool.lengths)
        for index in indices(got.expected.array.shape):
            window = [X.array[(*index[:2], *place)].item()
                      for _, place, inside, _ in pool.window(index[2:]) if inside]  # fmt: skip
            assert got.expected.array[index] == nearest(exact_norm(window, p), name)


def nearest(value: mpmath.mpf, name: str) -> float:
    """The number of a type that is nearest to a normal value, by mpmath's own rounding."""
    with mpmath.workprec({"float": 24, "double": 53}[name]):
        return float(+value)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_the_norm_of_whole_channels(p: int) -> None:
    random = Random(p)
    for _ in range(60):
        shape = tuple(random.randint(1, 3) for _ in range(random.randint(3, 5)))
        X = tensor(np.array([random.gauss(0, 5) for _ in indices(shape)]).reshape(shape), "float")
        (got,) = answers("GlobalLpPool", 22, {"X": X}, p=p)
        assert got.expected.array.shape == (*shape[:2], *(1,) * (len(shape) - 2))
        for lead in indices(shape[:2]):
            wanted = exact_norm(X.array[lead].reshape(-1).tolist(), p)
            assert got.expected.array[lead].item() == nearest(wanted, "float")


def by_powers(rows: Array, p: int) -> Array:
    kind = rows.dtype.type
    return np.asarray(np.power(np.power(abs(rows), kind(p)).sum(axis=-1, dtype=kind), kind(1) / kind(p)))


def one_after_the_other(rows: Array, p: int) -> Array:
    """By products, added up from the last to the first; the root by the exponential of a logarithm."""
    kind = rows.dtype.type
    total = np.zeros(rows.shape[:-1], rows.dtype)
    for each in np.moveaxis(rows, -1, 0)[::-1]:
        power = abs(each)
        for _ in range(p - 1):
            power = power * abs(each)
        total = total + power
    if p == 2:
        return np.asarray(np.sqrt(total))
    return np.asarray(np.power(total, kind(1.0 / p)))


def in_blocks(rows: Array, p: int) -> Array:
    kind = rows.dtype.type
    parts = [(abs(rows[..., at::4]) ** kind(p)).sum(axis=-1, dtype=kind) for at in range(4)]
    return np.asarray(np.power((parts[0] + parts[1]) + (parts[2] + parts[3]), kind(1.0 / p)))


def by_means(rows: Array, p: int) -> Array:
    """By the mean of the powers, as pools of averages give it, times their count."""
    kind = rows.dtype.type
    mean = np.power(abs(rows), kind(p)).sum(axis=-1, dtype=kind) / kind(rows.shape[-1])
    return np.asarray(np.power(mean * kind(rows.shape[-1]), kind(1) / kind(p)))


def in_double(rows: Array, p: int) -> Array:
    return np.asarray(by_powers(rows.astype(np.float64), p).astype(rows.dtype))


PROGRAMS: dict[str, Program] = {
    "powers": by_powers,
    "one after the other": one_after_the_other,
    "blocks": in_blocks,
    "means": by_means,
    "in double": in_double,
}
FAULTS: dict[str, Program] = {
    "p ignored": lambda rows, _: by_powers(rows, 2),
    "a power less": lambda rows, p: by_powers(rows, p - 1),
    "without the root": lambda rows, p: np.power(abs(rows), p).sum(axis=-1, dtype=rows.dtype),
    "a mean for the sum": lambda rows, p: by_powers(rows, p) * rows.dtype.type(rows.shape[-1] ** (-1 / p)),
    "signs kept": lambda rows, p: np.cbrt((rows**3).sum(axis=-1)) if p == 3 else -by_powers(rows, p),
    "the last element left out": lambda rows, p: by_powers(rows[..., :-1], p),
    "the greatest for the norm": lambda rows, _: abs(rows).max(axis=-1),
    "a root of a half precision": lambda rows, p: by_powers(rows, p).astype(np.float16).astype(rows.dtype),
}  # fmt: skip


def calls(honest: bool) -> Iterator[tuple[Array, int]]:
    draw = np.random.default_rng(7)
    for count in (3, 12, 40):
        for p in (1, 2, 3, 4) if honest else (3, 4):
            signs = draw.choice((-1.0, 1.0), (2, 3, count))
            yield signs * np.exp(draw.uniform(-2, 2, (2, 3, count))), p


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_honest_programs_are_inside(name: str, kind: str) -> None:
    for rows, p in calls(honest=True):
        given = rows.astype(KINDS[kind])
        asked = Asked.of("GlobalLpPool", kind, [("X", given)], {"p": p})
        assert not asked.wrong(PROGRAMS[name](given, p)[..., None]).any()


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_programs_are_outside(name: str) -> None:
    for rows, p in calls(honest=False):
        given = rows.astype(np.float32)
        asked = Asked.of("GlobalLpPool", "float", [("X", given)], {"p": p})
        assert asked.wrong(np.asarray(FAULTS[name](given, p), np.float32)[..., None]).any()


def norms(values: list[float], p: int) -> tuple[Tensor, Any]:
    X = tensor(np.array([[values]], np.float32), "float")
    (got,) = answers("GlobalLpPool", 22, {"X": X}, p=p)
    return X, got


@pytest.mark.parametrize("p", [2, 3, 4])
def test_powers_below_all_numbers_may_be_zero(p: int) -> None:
    _, got = norms([1e-25, 3e-25], p)
    exact = float(exact_norm([float(np.float32(1e-25)), float(np.float32(3e-25))], p))
    assert accepted(got, np.array([[[0.0]]])).all()
    assert accepted(got, np.array([[[exact]]])).all()
    assert not accepted(got, np.array([[[1.0]]])).all()


@pytest.mark.parametrize("p", [2, 3, 4])
@pytest.mark.parametrize("values", [[1e30, 3e30], [3.2e38]])
def test_powers_beyond_all_numbers_may_be_infinite(values: list[float], p: int) -> None:
    _, got = norms(values, p)
    assert accepted(got, np.array([[[np.inf]]])).all()
    assert accepted(got, np.array([[[float(exact_norm(values, p))]]])).all()


@pytest.mark.parametrize("p", [1, 2, 3])
def test_what_is_no_number(p: int) -> None:
    assert np.isnan(norms([1.0, np.nan], p)[1].expected.array).all()
    assert np.isposinf(norms([1.0, -np.inf], p)[1].expected.array).all()
    assert norms([0.0, -0.0], p)[1].expected.array.tolist() == [[[0.0]]]
