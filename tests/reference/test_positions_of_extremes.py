"""ArgMax, ArgMin, Hardmax and TopK against loops over lanes, with Python's own comparison of numbers."""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor, tensor
from tests.reference.loops import answer, answers, indices, some_shape

INF = float("inf")
VALUES = [0.0, -0.0, 1.5, -1.5, 2.5, INF, -INF]


def ties(random: Random, shape: tuple[int, ...]) -> Tensor:
    """Numbers of which many are equal."""
    name = random.choice(["float", "double", "float16", "int32", "uint8"])
    known = [0, 1, 2, 200] if name == "uint8" else [-3, 0, 4] if name == "int32" else VALUES
    return tensor(np.array([random.choice(known) for _ in indices(shape)]).reshape(shape), name)


def lane_of(X: Tensor, index: tuple[int, ...], axis: int) -> list[Any]:
    """The elements along an axis through an index that has any place there."""
    return [X.array[(*index[:axis], at, *index[axis + 1 :])].item() for at in range(X.shape[axis])]


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("version", [1, 11, 12, 13])
def test_where_the_extreme_is(name: str, version: int) -> None:
    random, choose = Random(f"{name}{version}"), max if name == "ArgMax" else min
    for _ in range(200):
        X = ties(random, some_shape(random, 1, 3, (1, 2, 4)))
        axis = random.randrange(len(X.shape))
        last, keepdims = random.randint(0, 1) if version >= 12 else 0, random.choice([None, 0, 1])
        given = {"select_last_index": last} if version >= 12 else {}
        (got,) = answers(name, version, {"data": X}, axis=axis, keepdims=keepdims, **given)
        shape = tuple(1 if at == axis else n for at, n in enumerate(X.shape))
        kept = got.expected.array.reshape(shape)
        assert got.expected.shape == (shape if keepdims != 0 else shape[:axis] + shape[axis + 1 :])
        for flat, index in enumerate(indices(shape)):
            lane = lane_of(X, index, axis)
            best = [at for at, each in enumerate(lane) if each == choose(lane)]
            assert kept[index] == best[-1 if last else 0]
            others = set((got.alternatives or {}).get(flat, ()))
            assert others == (set(best) if version < 12 and len(best) > 1 else set())


@pytest.mark.parametrize("version", [1, 11, 13])
def test_hardmax(version: int) -> None:
    random = Random(version)
    for _ in range(200):
        shape = some_shape(random, 2, 3, (1, 2, 3))
        X = tensor(np.array([random.choice(VALUES) for _ in indices(shape)]).reshape(shape), "float")
        axis = random.choice([None, *range(len(shape))])
        used = (-1 if version >= 13 else 1) if axis is None else axis
        rows = X
        if version < 13:
            rows = Tensor(X.element_type, X.array.reshape(prod(shape[:used]), prod(shape[used:])))
        at = used % len(shape) if version >= 13 else 1
        wanted = np.zeros(rows.shape, dtype=np.float32)
        for index in indices(rows.shape):
            lane = lane_of(rows, index, at)
            wanted[index] = index[at] == lane.index(max(lane))
        (got,) = answers("Hardmax", version, {"input": X}, axis=axis)
        assert got.expected == tensor(wanted.reshape(shape), "float")
        assert not got.alternatives


@pytest.mark.parametrize("version", [1, 10, 11, 24])
def test_top_k(version: int) -> None:
    random = Random(version)
    for _ in range(200):
        X = ties(random, some_shape(random, 1, 3, (1, 2, 4)))
        axis = random.randrange(len(X.shape))
        count = random.randint(1 if version == 1 else 0, X.shape[axis])
        largest = random.randint(0, 1) if version >= 11 else 1
        given: dict[str, Any] = {"largest": largest} if version >= 11 else {}
        named = axis - len(X.shape) if version >= 11 else axis
        inputs = {"X": X} if version == 1 else {"X": X, "K": [count]}
        given |= {"k": count} if version == 1 else {}
        values, places = answers("TopK", version, inputs, axis=named, **given)
        shape = tuple(count if at == axis else n for at, n in enumerate(X.shape))
        assert values.expected.shape == places.expected.shape == shape
        for index in indices(shape):
            left = list(enumerate(lane_of(X, index, axis)))
            for _ in range(index[axis] + 1):
                best = (max if largest else min)(each for _, each in left)
                found = next(pair for pair in left if pair[1] == best)
                left.remove(found)
            assert places.expected.array[index] == found[0]
            assert values.expected.array[index] == found[1]
        assert not places.alternatives


def test_beside_nan_any_element_is_as_good() -> None:
    X = tensor([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]], "float")
    (got,) = answers("ArgMax", 13, {"data": X}, axis=1)
    assert {int(got.expected.array[0, 0]), *(got.alternatives or {})[0]} == {0, 1, 2}
    assert set(got.alternatives or {}) == {0}
    for last in (0, 1):
        (of_two,) = answers("ArgMin", 13, {"data": tensor([np.nan, np.nan], "float")}, select_last_index=last)
        assert {int(of_two.expected.array[0]), *(of_two.alternatives or {})[0]} == {0, 1}
    values, places = answers("TopK", 11, {"X": X, "K": [2]})
    assert set(places.alternatives or {}) == set(values.alternatives or {}) == {0, 1}
    (hot,) = answers("Hardmax", 13, {"input": X})
    assert set(hot.alternatives or {}) == {0, 1, 2}


def test_without_an_order_each_of_the_greatest_may_be_anywhere() -> None:
    X = tensor([5, 1, 9, 3], "int32")
    values, places = answers("TopK", 11, {"X": X, "K": [2]}, sorted=0)
    assert values.alternatives == {0: (9, 5), 1: (9, 5)}
    assert places.alternatives == {0: (2, 0), 1: (2, 0)}


def test_subnormal_numbers_may_be_equal() -> None:
    X = tensor(np.array([1e-40, 3e-40, 0.0]), "float")
    assert answer("ArgMax", 13, {"data": X}).array.tolist() == [1]
    from opcert.vocabulary.names import OperatorName
    from reference.registry import find_operator

    reference = find_operator(OperatorName("ai.onnx", "ArgMax", 13))
    (got,) = reference.evaluate({}, {"data": X}, {"subnormals": "flushed"})
    assert {int(got.expected.array[0]), *(got.alternatives or {})[0]} == {0, 1, 2}
