"""Pools against plain loops over windows with Fractions, and in float32 in several orders."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor, tensor
from tests.reference.loops import answer, answers, indices
from tests.reference.test_number_arrays import accepted
from tests.reference.windows_by_loops import Index, Sliding, some_sliding


def some_pool(random: Random) -> Sliding:
    while True:
        found = some_sliding(random, ceil_mode=True)
        if found.holds_elements:
            return found


def told(pool: Sliding) -> dict[str, Any]:
    return {**pool.attributes, "kernel_shape": pool.kernel, "ceil_mode": pool.ceil_mode}


def some_data(random: Random, pool: Sliding, name: str = "float") -> Tensor:
    shape = (random.randint(1, 2), random.randint(1, 2), *pool.extents)
    whole = random.random() < 0.5
    low = 0 if name == "uint8" else -9
    count = len(list(indices(shape)))
    data = [random.randint(low, 9) if whole or "int" in name else random.gauss(0, 5) for _ in range(count)]
    return tensor(np.array(data).reshape(shape), name)


@pytest.mark.parametrize("name", ["float", "double", "int8", "uint8"])
def test_the_greatest_of_each_window_and_where_it_is(name: str) -> None:
    random = Random(name)
    for _ in range(150):
        pool = some_pool(random)
        X = some_data(random, pool, name)
        order = random.randint(0, 1)
        values, places = answers("MaxPool", 22, {"X": X}, **told(pool), storage_order=order, outputs=2)
        shape = (*X.shape[:2], *pool.lengths)
        assert values.expected.shape == places.expected.shape == shape
        for flat, index in enumerate(indices(shape)):
            lead = index[:2]
            window = {place: X.array[(*lead, *place)].item()
                      for _, place, inside, _ in pool.window(index[2:]) if inside}  # fmt: skip
            most = max(window.values())
            assert values.expected.array[index] == most
            best = [number(lead, each, X.shape, order) for each, held in window.items() if held == most]
            assert places.expected.array[index] == best[0]
            assert set((places.alternatives or {}).get(flat, best)) == set(best)


def number(lead: Index, place: Index, shape: Index, storage_order: int) -> int:
    """The index of an element: that of its plane, and in it of rows, or of columns."""
    found, extents = 0, shape[2:]
    axes = range(len(extents)) if not storage_order else reversed(range(len(extents)))
    for axis in axes:
        found = found * extents[axis] + place[axis]
    return (lead[0] * shape[1] + lead[1]) * int(np.prod(extents)) + found


@pytest.mark.parametrize("include", [0, 1])
def test_the_mean_of_each_window(include: int) -> None:
    random = Random(include)
    for _ in range(250):
        pool = some_pool(random)
        X = some_data(random, pool)
        (got,) = answers("AveragePool", 22, {"X": X}, **told(pool), count_include_pad=include)
        shape = (*X.shape[:2], *pool.lengths)
        exact, forward, backward = np.zeros(shape), np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        for index in indices(shape):
            window = list(pool.window(index[2:]))
            held = [X.array[(*index[:2], *place)] for _, place, inside, _ in window if inside]
            count = sum(padded if include else inside for *_, inside, padded in window)
            exact[index] = sum((Fraction(float(each)) for each in held), Fraction(0)) / count
            forward[index] = sum(held, np.float32(0)) / np.float32(count)
            backward[index] = sum(held[::-1], np.float32(0)) * (np.float32(1) / np.float32(count))
        np.testing.assert_array_equal(got.expected.array, exact.astype(np.float32))
        assert accepted(got, forward).all()
        assert accepted(got, backward).all()


def test_a_window_less_or_a_divisor_more_is_noticed() -> None:
    X = tensor(np.array([[[4.0, 6.0, 9.0]]], np.float32))
    (got,) = answers("AveragePool", 22, {"X": X}, kernel_shape=(2,), pads=(1, 0))
    assert accepted(got, np.array([[[4.0, 5.0, 7.5]]])).all()
    assert not accepted(got, np.array([[[2.0, 5.0, 7.5]]])).all()


def test_padding_is_no_element_beside_nan() -> None:
    X = tensor(np.array([[[np.nan, -1.0]]], np.float32))
    call = {"kernel_shape": (2,), "pads": (1, 1)}
    first, middle, last = answers("MaxPool", 22, {"X": X}, **call, outputs=2)[0].expected.array[0, 0]
    assert np.isnan(first)
    assert np.isnan(middle)
    assert last == -1
    _, places = answers("MaxPool", 22, {"X": X}, **call, outputs=2)
    assert set((places.alternatives or {})[1]) == {0, 1}


def test_whole_channels() -> None:
    random = Random(1)
    for _ in range(200):
        shape = tuple(random.randint(1, 3) for _ in range(random.randint(3, 5)))
        X = tensor(np.array([random.randint(-9, 9) for _ in indices(shape)]).reshape(shape), "float")
        most, mean = (answer(each, 22, {"X": X}).array for each in ("GlobalMaxPool", "GlobalAveragePool"))
        assert most.shape == mean.shape == (*shape[:2], *(1,) * (len(shape) - 2))
        for lead in indices(shape[:2]):
            held = [X.array[(*lead, *place)].item() for place in indices(shape[2:])]
            assert most[lead].item() == max(held)
            assert mean[lead].item() == np.float32(Fraction(int(sum(held)), len(held)))


def test_what_was_greatest_goes_back_to_its_place() -> None:
    random = Random(2)
    for _ in range(300):
        rank = random.randint(1, 3)
        shape = (random.randint(1, 2), random.randint(1, 2), *(random.randint(1, 3) for _ in range(rank)))
        kernel = tuple(random.randint(1, 3) for _ in range(rank))
        strides = tuple(length + random.randint(0, 1) for length in kernel)
        full = [(n - 1) * s + k for n, s, k in zip(shape[2:], strides, kernel, strict=True)]
        pads = [0] * 2 * rank
        larger = random.random() < 0.5
        if larger:
            full = [each + random.randint(0, 2) for each in full]
        elif full[0] > shape[2]:
            pads[random.choice([0, rank])] = 1
            full[0] -= 1
        room = (*shape[:2], *full)
        X = tensor(np.array([random.gauss(0, 1) for _ in indices(shape)]).reshape(shape), "float")
        chosen = random.sample(range(int(np.prod(room))), X.array.size)
        places = tensor(np.array(chosen).reshape(shape), "int64")
        given = {"X": X, "I": places, "output_shape": list(room) if larger else None}
        got = answer("MaxUnpool", 22, given, kernel_shape=kernel, strides=strides, pads=tuple(pads))
        wanted = dict(zip(chosen, X.array.reshape(-1).tolist(), strict=True))
        assert got.shape == room
        assert got.array.reshape(-1).tolist() == [wanted.get(at, 0.0) for at in range(int(np.prod(room)))]
