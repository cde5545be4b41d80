"""Operators that gather, scatter and select by indices, against loops written from the documents."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from tests.reference.loops import Index, answer, answers, built, distinct, indices, some_shape

TIMES = 250


def places(random: Random, shape: Index, extent: int) -> Tensor:
    """Indices into an axis of a length, of either sign."""
    count = int(np.prod(shape, dtype=np.int64))
    drawn = [random.randrange(extent) for _ in range(count)]
    listed = [each - extent if random.random() < 0.3 else each for each in drawn]
    return tensor(np.array(listed, dtype=np.int64).reshape(shape), random.choice(["int64", "int32"]))


@pytest.mark.parametrize("version", [11, 13])
def test_gather(version: int) -> None:
    random = Random(version)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, 1, 3, (1, 2, 3)))
        axis = random.randrange(-len(X.shape), len(X.shape))
        at = axis % len(X.shape)
        I = places(random, some_shape(random, 0, 2), X.shape[axis])  # noqa: E741
        rank = len(I.shape)

        def source(index: Index, X: Tensor = X, I: Tensor = I, at: int = at, rank: int = rank) -> Any:  # noqa: E741
            return X.array[(*index[:at], int(I.array[index[at : at + rank]]), *index[at + rank :])]

        wanted = built(X.element_type.name, (*X.shape[:at], *I.shape, *X.shape[at + 1 :]), source)
        assert answer("Gather", version, {"data": X, "indices": I}, axis=axis) == wanted


def test_gather_elements() -> None:
    random = Random(1)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, 1, 3, (1, 2, 3)))
        axis = random.randrange(-len(X.shape), len(X.shape))
        shape = tuple(random.randint(0, n) for n in X.shape)
        I = places(random, shape, X.shape[axis])  # noqa: E741

        def source(index: Index, X: Tensor = X, I: Tensor = I, axis: int = axis) -> Any:  # noqa: E741
            taken = list(index)
            taken[axis] = int(I.array[index])
            return X.array[tuple(taken)]

        wanted = built(X.element_type.name, shape, source)
        assert answer("GatherElements", 13, {"data": X, "indices": I}, axis=axis) == wanted


def tuples(random: Random, shape: Index, extents: Index) -> Tensor:
    """Tuples of indices, one into each of some axes, along the last axis."""
    array = np.zeros((*shape, len(extents)), dtype=np.int64)
    for index in indices(array.shape):
        array[index] = random.randrange(-extents[index[-1]], extents[index[-1]])
    return tensor(array, "int64")


def test_gather_nd() -> None:
    random = Random(2)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, 1, 4, (1, 2, 3)))
        b = random.randrange(len(X.shape))
        length = random.randint(1, len(X.shape) - b)
        outer = (*X.shape[:b], *some_shape(random, 0, 2))
        I = tuples(random, outer, X.shape[b : b + length])  # noqa: E741

        def source(index: Index, X: Tensor = X, I: Tensor = I, b: int = b, n: int = len(outer)) -> Any:  # noqa: E741
            chosen = [int(each) for each in I.array[index[:n]]]
            return X.array[(*index[:b], *chosen, *index[n:])]

        wanted = built(X.element_type.name, (*outer, *X.shape[b + length :]), source)
        assert answer("GatherND", 13, {"data": X, "indices": I}, batch_dims=b) == wanted


REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda _, update: update,
    "add": lambda old, update: old + update,
    "mul": lambda old, update: old * update,
    "max": max,
    "min": min,
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_elements_and_tuples(reduction: str) -> None:
    random = Random(reduction)
    for _ in range(TIMES // 2):
        shape = some_shape(random, 1, 3, (1, 2, 3))
        axis = random.randrange(-len(shape), len(shape))
        X = tensor(np.array([random.randint(-9, 9) for _ in indices(shape)]).reshape(shape), "int32")
        other = tuple(
            1 if reduction == "none" and at == axis % len(shape) else n for at, n in enumerate(shape)
        )
        I = places(random, other, shape[axis])  # noqa: E741
        U = tensor(np.array([random.randint(-9, 9) for _ in indices(other)]).reshape(other), "int32")
        wanted = X.array.copy()
        for index in indices(other):
            target = list(index)
            target[axis] = int(I.array[index])
            wanted[tuple(target)] = REDUCTIONS[reduction](wanted[tuple(target)], U.array[index])
        given = {"data": X, "indices": I, "updates": U}
        got = answer("ScatterElements", 18, given, axis=axis, reduction=reduction)
        assert got == tensor(wanted, "int32")
        if reduction == "none":
            assert answer("Scatter", 9, given, axis=axis) == got

        length = random.randint(1, len(shape))
        outer = (1,) if reduction == "none" else some_shape(random, 0, 2)
        I = tuples(random, outer, shape[:length])  # noqa: E741
        U = tensor(np.array([random.randint(-9, 9) for _ in indices((*outer, *shape[length:]))]).reshape(
            (*outer, *shape[length:])), "int32")  # fmt: skip
        wanted = X.array.copy()
        for index in indices(outer):
            chosen = tuple(int(each) for each in I.array[index])
            for rest in indices(shape[length:]):
                old = wanted[(*chosen, *rest)]
                wanted[(*chosen, *rest)] = REDUCTIONS[reduction](old, U.array[(*index, *rest)])
        got = answer("ScatterND", 18, {"data": X, "indices": I, "updates": U}, reduction=reduction)
        assert got == tensor(wanted, "int32")


@pytest.mark.parametrize("name", ["float", "float16", "double"])
@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_every_order_of_floats_is_within_the_bound(name: str, reduction: str) -> None:
    rng = np.random.default_rng(7)
    storage: Any = np.dtype(ELEMENT_TYPES[name].storage).type
    for _ in range(100):
        X = tensor(rng.uniform(-2, 2, 1), name)
        U = tensor(rng.uniform(-2, 2, 6), name)
        given = {"data": X, "indices": tensor(np.zeros(6, dtype=np.int64)), "updates": U}
        (one,) = answers("ScatterElements", 18, given, reduction=reduction)
        exact = Fraction(0) if reduction == "add" else Fraction(1)
        for each in [*X.array.tolist(), *U.array.tolist()]:
            exact = REDUCTIONS[reduction](exact, Fraction(each))
        held = np.float32 if name == "float16" else storage
        for order in (rng.permutation(6) for _ in range(4)):
            value = X.array.astype(held)[0]
            for at in order:
                value = held(REDUCTIONS[reduction](value, U.array.astype(held)[at]))
            assert one.allowed is not None
            apart = abs(Fraction(float(storage(value))) - Fraction(float(one.expected.array[0])))
            assert apart <= Fraction(float(one.allowed[0]))
        near = abs(exact) * Fraction(1, 1000) + Fraction(1, 2**25)
        assert abs(exact - Fraction(float(one.expected.array[0]))) <= near


def test_anything_stands_where_nan_is_among_what_is_compared() -> None:
    given = {
        "data": tensor([1.0, 5.0], "float"),
        "indices": [0, 0, 1],
        "updates": tensor([np.nan, 3.0, 4.0], "float"),
    }
    (got,) = answers("ScatterElements", 18, given, reduction="max")
    assert np.isnan(got.expected.array[0])
    assert got.expected.array[1] == 5
    accepted = (got.alternatives or {})[0]
    assert {each for each in accepted if each == each} == {1.0, 3.0}
    assert set(got.alternatives or {}) == {0}


def test_tensor_scatter() -> None:
    random = Random(5)
    for _ in range(TIMES):
        shape = some_shape(random, 2, 4, (1, 2, 4))
        axis = random.randint(1, len(shape) - 1)
        count = random.randint(0, shape[axis])
        X, mode = distinct(random, shape), random.choice(["linear", "circular"])
        U = Tensor(X.element_type, np.take(X.array, [0] * count, axis))
        last = shape[axis] - count if mode == "linear" else 9
        starts = [random.randint(0, last) for _ in range(shape[0])]
        wanted = X.array.copy()
        for index in indices(U.shape):
            target = list(index)
            target[axis] = starts[index[0]] + index[axis]
            if mode == "circular":
                target[axis] %= shape[axis]
            wanted[tuple(target)] = U.array[index]
        asked = {"past_cache": X, "update": U, "write_indices": starts}
        named = axis - len(shape) if random.random() < 0.5 else axis
        got = answer("TensorScatter", 24, asked, axis=named, mode=mode)
        assert got == Tensor(X.element_type, wanted)


@pytest.mark.parametrize("version", [9, 11])
def test_one_hot(version: int) -> None:
    random = Random(version)
    for _ in range(TIMES):
        depth = random.randint(1, 4)
        shape = some_shape(random, 1, 3)
        low = -depth - 1 if version >= 11 else 0
        drawn = np.array([random.randint(low, depth + 1) for _ in indices(shape)], dtype=np.int64).reshape(
            shape
        )
        I = tensor(drawn, random.choice(["float", "int32", "int64", "double"]))  # noqa: E741
        axis = random.randint(-len(shape) - 1, len(shape))
        at = axis % (len(shape) + 1)

        def element(index: Index, drawn: Any = drawn, at: int = at, depth: int = depth) -> int:
            found = int(drawn[(*index[:at], *index[at + 1 :])])
            return 7 if -depth <= found < depth and found % depth == index[at] else 3

        wanted = built("int8", (*shape[:at], depth, *shape[at:]), element)
        asked = {"indices": I, "depth": tensor([float(depth)], "float"), "values": tensor([3, 7], "int8")}
        assert answer("OneHot", version, asked, axis=axis) == wanted


def test_compress_and_non_zero() -> None:
    random = Random(6)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, 1, 3))
        axis = random.choice([None, *range(-len(X.shape), len(X.shape))])
        length = X.array.size if axis is None else X.shape[axis]
        kept = [random.random() < 0.5 for _ in range(random.randint(0, length))]
        chosen = [at for at, each in enumerate(kept) if each]
        if axis is None:
            wanted = [X.array[index] for index in indices(X.shape)]
            wanted = [wanted[at] for at in chosen]
        else:
            wanted = np.take(X.array, chosen, axis).tolist()
        asked = {"input": X, "condition": tensor(np.array(kept, dtype=np.bool_), "bool")}
        assert answer("Compress", 11, asked, axis=axis).array.tolist() == wanted

        shape = some_shape(random)
        drawn = np.array([random.choice([0.0, -0.0, 1.5, np.nan]) for _ in indices(shape)]).reshape(shape)
        found = [index for index in indices(shape) if drawn[index] != 0]
        got = answer("NonZero", 13, {"X": tensor(drawn, random.choice(["float", "double", "complex64"]))})
        assert got.shape == (len(shape), len(found))
        assert [tuple(each) for each in got.array.T.tolist()] == found
