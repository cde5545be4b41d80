"""Operators that give elements other places, against loops written from the documents."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor
from tests.reference.loops import Index, answer, answers, built, distinct, some_shape

TIMES = 250


def test_transpose_and_concat() -> None:
    random = Random(3)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random))
        order = random.sample(range(len(X.shape)), len(X.shape))
        perm = None if random.random() < 0.3 else tuple(order)
        used = order if perm else list(range(len(X.shape)))[::-1]

        def source(at: Index, X: Tensor = X, used: list[int] = used) -> Any:
            return X.array[tuple(at[used.index(axis)] for axis in range(len(used)))]

        wanted = built(X.element_type.name, [X.shape[axis] for axis in used], source)
        assert answer("Transpose", 25, {"data": X}, perm=perm) == wanted
        if X.shape:
            axis = random.randint(-len(X.shape), len(X.shape) - 1)
            parts = splits(random, X.shape[axis])
            split = answers("Split", 13, {"input": X, "split": parts}, axis=axis)
            for part, (begin, end) in zip(
                split, itertools.pairwise([0, *itertools.accumulate(parts)]), strict=True
            ):
                chosen = [i for i in range(X.shape[axis]) if begin <= i < end]
                assert part.expected.array.tolist() == np.take(X.array, chosen, axis).tolist()
            joined = answer("Concat", 13, {"inputs": tuple(each.expected for each in split)}, axis=axis)
            assert joined == X


def splits(random: Random, extent: int) -> list[int]:
    ends = sorted(random.randint(0, extent) for _ in range(random.randint(0, 3)))
    return [after - before for before, after in itertools.pairwise([0, *ends, extent])]


@pytest.mark.parametrize(
    ("version", "extent", "outputs", "lengths"),
    [
        (2, 6, 3, [2, 2, 2]),
        (18, 7, 3, [3, 3, 1]),
        (18, 7, 4, [2, 2, 2, 1]),
        (18, 4, 3, [2, 2, 0]),
        (13, 0, 2, [0, 0]),
    ],
)
def test_equal_parts(version: int, extent: int, outputs: int, lengths: list[int]) -> None:
    X = distinct(Random(4), (extent,))
    given = {"num_outputs": outputs} if version >= 18 else {}
    found = [each.expected for each in answers("Split", version, {"input": X}, outputs=outputs, **given)]
    assert [each.shape for each in found] == [(length,) for length in lengths]
    assert [each for part in found for each in part.array] == X.array.tolist()


@pytest.mark.parametrize("version", [1, 10, 11, 13])
def test_slice(version: int) -> None:
    random = Random(version)
    for _ in range(2 * TIMES):
        X = distinct(random, some_shape(random, 1, 3, (0, 1, 2, 5)))
        rank = len(X.shape)
        axes = random.sample(range(rank), random.randint(0, rank))
        bounds = [0, 1, 2, 4, 5, 9, -1, -2, -5, -9, 2**62, -(2**62)]
        starts, ends = [random.choice(bounds) for _ in axes], [random.choice(bounds) for _ in axes]
        steps = [random.choice([1, 2, -1, -3] if version >= 10 else [1]) for _ in axes]
        places = [list(range(extent)) for extent in X.shape]
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
            places[axis] = walked(X.shape[axis], start, end, step)
        wanted = built(
            X.element_type.name,
            [len(place) for place in places],
            lambda at, X=X, places=places: X.array[tuple(p[i] for p, i in zip(places, at, strict=True))],  # type: ignore[misc]
        )
        named = [axis - rank if version >= 11 and random.random() < 0.3 else axis for axis in axes]
        lists: dict[str, Any] = {"starts": starts, "ends": ends, "axes": named}
        if version >= 10:
            given = lists | ({"steps": steps} if any(step != 1 for step in steps) else {})
            assert answer("Slice", version, {"data": X, **given}) == wanted
        else:
            given = {name: tuple(each) for name, each in lists.items()}
            assert answer("Slice", version, {"data": X}, **given) == wanted


def walked(extent: int, start: int, end: int, step: int) -> list[int]:
    """The positions, by the steps of the text: negative ones counted from the end, clamped, walked."""
    start, end = (each + extent if each < 0 else each for each in (start, end))
    if step > 0:
        start, end = sorted([0, start, extent])[1], sorted([0, end, extent])[1]
    else:
        start, end = sorted([0, start, extent - 1])[1] if extent else 0, sorted([-1, end, extent - 1])[1]
    found = []
    while extent and (start < end if step > 0 else start > end):
        found.append(start)
        start += step
    return found


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks(mode: str) -> None:
    random = Random(mode)
    for _ in range(TIMES):
        size = random.randint(1, 3)
        n, depth, height, width = (random.randint(0, 3) for _ in range(4))
        X = distinct(random, (n, depth * size * size, height, width))

        def channel(d: int, i: int, j: int, depth: int = depth, size: int = size) -> int:
            return (i * size + j) * depth + d if mode == "DCR" else (d * size + i) * size + j

        def source(at: Index, X: Tensor = X, size: int = size, channel: Any = channel) -> Any:
            b, d, y, x = at
            return X.array[b, channel(d, y % size, x % size), y // size, x // size]

        spread = built(X.element_type.name, (n, depth, height * size, width * size), source)
        assert answer("DepthToSpace", 13, {"input": X}, blocksize=size, mode=mode) == spread
        assert answer("SpaceToDepth", 28, {"input": spread}, blocksize=size, mode=mode) == X
        if mode == "DCR":
            assert answer("DepthToSpace", 1, {"input": X}, blocksize=size) == spread
            assert answer("SpaceToDepth", 13, {"input": spread}, blocksize=size) == X


def test_reverse_sequence() -> None:
    random = Random(5)
    for _ in range(TIMES):
        X = distinct(random, some_shape(random, 2, 4, (0, 1, 3, 4)))
        time = random.randint(0, 1)
        lengths = [random.randint(0, X.shape[time]) for _ in range(X.shape[1 - time])]

        def source(at: Index, X: Tensor = X, time: int = time, lengths: list[int] = lengths) -> Any:
            taken, length = list(at), lengths[at[1 - time]]
            if at[time] < length:
                taken[time] = length - at[time] - 1
            return X.array[tuple(taken)]

        given = {} if time == 0 and random.random() < 0.5 else {"time_axis": time, "batch_axis": 1 - time}
        wanted = built(X.element_type.name, X.shape, source)
        assert answer("ReverseSequence", 10, {"input": X, "sequence_lens": lengths}, **given) == wanted
