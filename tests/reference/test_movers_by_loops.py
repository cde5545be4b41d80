"""Operators that leave elements in their order, against loops written from the documents."""

from __future__ import annotations

import itertools
from math import prod
from random import Random
from typing import Any

import pytest

from opcert.vocabulary.tensors import Tensor
from tests.reference.loops import Index, answer, built, distinct, indices, some_shape

TIMES = 250


def in_order(given: Tensor) -> list[Any]:
    return [given.array[index] for index in indices(given.shape)]


def keeps_order(got: Tensor, given: Tensor, shape: Index) -> bool:
    return got.shape == shape and got.element_type == given.element_type and in_order(got) == in_order(given)


@pytest.mark.parametrize("version", [5, 13, 14, 25])
def test_reshape(version: int) -> None:
    random = Random(version)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, extents=(0, 1, 2, 3, 4)))
        count = X.array.size
        fitting = [
            shape
            for rank in range(4)
            for shape in itertools.product(range(7), repeat=rank)
            if prod(shape) == count
        ]
        wanted = random.choice(fitting)
        allowzero = random.random() < 0.3 if version >= 14 else False
        asked = list(wanted)
        for place, extent in enumerate(wanted):
            same = place < len(X.shape) and X.shape[place] == extent
            if extent == 0 and not same and not allowzero:
                break
            if same and not allowzero and random.random() < 0.3:
                asked[place] = 0
        else:
            places = [place for place, each in enumerate(asked) if each]
            if places and count and random.random() < 0.5:
                asked[random.choice(places)] = -1
            given = {"allowzero": 1} if allowzero else {}
            assert keeps_order(answer("Reshape", version, {"data": X, "shape": asked}, **given), X, wanted)


@pytest.mark.parametrize("version", [1, 9, 11, 25])
def test_flatten(version: int) -> None:
    random = Random(version)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random))
        axis = random.randint(-len(X.shape) if version >= 11 else 0, len(X.shape))
        first = [
            extent
            for place, extent in enumerate(X.shape)
            if place < (axis + len(X.shape) if axis < 0 else axis)
        ]
        wanted = prod(first), prod(X.shape[len(first) :])
        assert keeps_order(answer("Flatten", version, {"input": X}, axis=axis), X, wanted)


@pytest.mark.parametrize("version", [1, 11, 13, 25])
def test_axes_of_length_one_come_and_go(version: int) -> None:
    random = Random(version)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, most=3))
        rank = len(X.shape) + random.randint(0, 3)
        chosen = random.sample(range(rank), rank - len(X.shape))
        wide = list(X.shape)
        for axis in sorted(chosen):
            wide.insert(axis, 1)
        named = [each - rank if version >= 11 and random.random() < 0.3 else each for each in chosen]
        axes: dict[str, Any] = {"axes": named if version >= 13 else tuple(named)}
        inputs, attributes = (axes, {}) if version >= 13 else ({}, axes)
        wider = answer("Unsqueeze", version, {"data": X, **inputs}, **attributes)
        assert keeps_order(wider, X, tuple(wide))
        assert keeps_order(answer("Squeeze", version, {"data": wider, **inputs}, **attributes), X, X.shape)
        without = tuple(each for each in wide if each != 1)
        assert keeps_order(answer("Squeeze", version, {"data": wider}), X, without)


def test_expand_and_tile() -> None:
    random = Random(1)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, most=3))
        longer = some_shape(random, most=2) + tuple(
            random.choice([extent, 1] if extent != 1 else [0, 1, 4]) for extent in X.shape
        )
        shape = longer[random.randint(0, len(longer)) :] if random.random() < 0.3 else longer
        ends = list(itertools.zip_longest(X.shape[::-1], shape[::-1], fillvalue=1))[::-1]
        wanted = tuple(other if own == 1 else own for own, other in ends)
        skipped = len(wanted) - len(X.shape)
        found = built(
            X.element_type.name,
            wanted,
            lambda at, X=X, skipped=skipped: X.array[  # type: ignore[misc]
                tuple(0 if n == 1 else i for i, n in zip(at[skipped:], X.shape, strict=True))
            ],
        )
        assert answer("Expand", 13, {"input": X, "shape": list(shape)}) == found
        repeats = [random.randint(0, 3) for _ in X.shape]
        tiled = built(
            X.element_type.name,
            [n * times for n, times in zip(X.shape, repeats, strict=True)],
            lambda at, X=X: X.array[tuple(i % n for i, n in zip(at, X.shape, strict=True))],  # type: ignore[misc]
        )
        assert answer("Tile", 6, {"input": X, "repeats": repeats}) == tiled


def test_shape_and_size() -> None:
    random = Random(2)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random))
        rank = len(X.shape)
        start, end = (
            random.choice([None, random.randint(-6, 6)]),
            random.choice([None, random.randint(-6, 6)]),
        )
        first, last = (
            max(0, min(rank, default if each is None else each + rank if each < 0 else each))
            for each, default in ((start, 0), (end, rank))
        )
        wanted = [X.shape[axis] for axis in range(first, last)]
        got = answer("Shape", 25, {"data": X}, start=start, end=end)
        assert (got.element_type.name, got.array.tolist()) == ("int64", wanted)
        assert answer("Size", 25, {"data": X}).array.tolist() == sum(1 for _ in indices(X.shape))
