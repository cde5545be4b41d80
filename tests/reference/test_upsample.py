"""Upsample against loops over fractions under every reading, honest programs, and faulty ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry import find_operator

Array = NDArray[Any]
Places = Callable[[int, Any, int, int], Any]
F = np.float32
HALF = Fraction(1, 2)
SCALES = (1.0, 1.5, 2.0, 3.0, 1.25, 2.5)
COORDINATES: dict[str, Places] = {
    "asymmetric": lambda at, scale, length, extent: at / scale,
    "half_pixel": lambda at, scale, length, extent: (at + HALF) / scale - HALF,
    "align_corners": lambda at, scale, length, extent: (
        Fraction(at * (extent - 1), length - 1) if length > 1 else Fraction(0)
    ),
}
NEAREST: dict[str, Callable[[Fraction], int]] = {
    "floor": floor,
    "round_prefer_floor": lambda at: ceil(at - HALF),
    "round_prefer_ceil": lambda at: floor(at + HALF),
    "ceil": ceil,
}


def answer(x: Array, scales: tuple[float, ...], mode: str, version: int, **reading: str) -> Answer:
    operator = find_operator(OperatorName("ai.onnx", "Upsample", version))
    inputs = {"X": tensor(x)}
    if version == 9:
        return operator.evaluate({"mode": mode}, inputs | {"scales": tensor(np.array(scales, F))}, reading)[0]
    return operator.evaluate({"mode": mode, "scales": scales}, inputs, reading)[0]


def weighted(coordinate: Any, extent: int) -> list[tuple[int, Any]]:
    """The two neighbours of a coordinate, at the border one element twice, and their weights."""
    low = floor(coordinate)
    part = coordinate - low
    inside = [min(max(each, 0), extent - 1) for each in (low, low + 1)]
    return [(inside[0], 1 - part), (inside[1], part)]


def by_loops(x: Array, scales: tuple[float, ...], mode: str, coordinates: str, rounding: str) -> Array:
    """Every element of the output, exactly."""
    lengths = [floor(extent * Fraction(scale)) for extent, scale in zip(x.shape, scales, strict=True)]
    found = np.empty(lengths, dtype=object)
    for place in itertools.product(*map(range, lengths)):
        axes = []
        for at, scale, length, extent in zip(place, scales, lengths, x.shape, strict=True):
            where = COORDINATES[coordinates](at, Fraction(scale), length, extent)
            if mode == "nearest":
                axes.append([(min(max(NEAREST[rounding](where), 0), extent - 1), Fraction(1))])
            else:
                axes.append(weighted(where, extent))
        total = Fraction(0)
        for taps in itertools.product(*axes):
            product = Fraction(1)
            for _, weight in taps:
                product *= weight
            total += product * Fraction(float(x[tuple(index for index, _ in taps)]))
        found[place] = total
    return found


def calls(count: int) -> list[tuple[Array, tuple[float, ...]]]:
    random = Random(71)
    found = []
    for _ in range(count):
        rank = random.randint(1, 3)
        shape = tuple(random.randint(1, 4) for _ in range(rank))
        x = np.array([random.uniform(1, 9) for _ in range(int(np.prod(shape)))], F).reshape(shape)
        found.append((x, tuple(random.choice(SCALES) for _ in range(rank))))
    return found


def wrong(found: Answer, got: Array) -> int:
    allowed = 0 if found.allowed is None else found.allowed
    far = np.asarray(np.abs(found.expected.array.astype(np.float64) - got.astype(np.float64)) > allowed)
    for place, others in (found.alternatives or {}).items():
        far.reshape(-1)[place] &= got.reshape(-1)[place] not in others
    return int(np.count_nonzero(far))


@pytest.mark.parametrize("version", [7, 9])
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("rounding", NEAREST)
def test_nearest_elements_are_those_of_fractions(coordinates: str, rounding: str, version: int) -> None:
    for x, scales in calls(20):
        found = answer(x, scales, "nearest", version, coordinates=coordinates, nearest_rounding=rounding)
        assert wrong(found, by_loops(x, scales, "nearest", coordinates, rounding).astype(F)) == 0


@pytest.mark.parametrize("version", [7, 9])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_means_are_those_of_fractions(coordinates: str, version: int) -> None:
    for x, scales in calls(20):
        found = answer(x, scales, "linear", version, coordinates=coordinates)
        exact = by_loops(x, scales, "linear", coordinates, "floor")
        assert (found.expected.array == exact.astype(np.float64).astype(F)).all()


def along_axes(x: Array, scales: tuple[float, ...], kind: Any, *, steps: bool, by_reciprocal: bool) -> Array:
    """Linear, axis after axis, asymmetric, in the arithmetic of a type."""
    found = x.astype(kind)
    for axis, scale in enumerate(scales):
        extent, length = x.shape[axis], int(x.shape[axis] * scale)
        rows = []
        for at in range(length):
            one = kind(at)
            where = one * (kind(1) / kind(scale)) if by_reciprocal else one / kind(scale)
            low = int(np.floor(where))
            part = kind(where - kind(low))
            first, second = (found.take(min(each, extent - 1), axis=axis) for each in (low, low + 1))
            mean = first + part * (second - first) if steps else (kind(1) - part) * first + part * second
            rows.append(mean)
        found = np.stack(rows, axis=axis)
    return found.astype(x.dtype)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("by_reciprocal", [False, True])
def test_honest_programs_are_accepted(kind: Any, steps: bool, by_reciprocal: bool) -> None:
    for x, scales in calls(60):
        found = answer(x, scales, "linear", 9, coordinates="asymmetric")
        assert wrong(found, along_axes(x, scales, kind, steps=steps, by_reciprocal=by_reciprocal)) == 0


FAULTS: dict[str, Callable[[Array, tuple[float, ...]], Array]] = {
    "nearest for linear": lambda x, s: by_loops(x, s, "nearest", "asymmetric", "floor").astype(F),
    "half_pixel for asymmetric": lambda x, s: by_loops(x, s, "linear", "half_pixel", "floor").astype(F),
    "aligned corners for asymmetric": lambda x, s: by_loops(x, s, "linear", "align_corners", "floor").astype(
        F
    ),
    "in half precision": lambda x, s: along_axes(
        x.astype(np.float16), s, np.float16, steps=False, by_reciprocal=False
    ).astype(F),
    "backwards": lambda x, s: along_axes(x[::-1], s, F, steps=False, by_reciprocal=False),
    "the last element alone": lambda x, s: np.full_like(
        along_axes(x, s, F, steps=False, by_reciprocal=False), x.reshape(-1)[-1]
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_programs_are_not(name: str) -> None:
    bad = [
        wrong(answer(x, s, "linear", 9, coordinates="asymmetric"), FAULTS[name](x, s)) for x, s in calls(30)
    ]
    assert sum(each > 0 for each in bad) >= 12


def test_onnx_test_of_nearest_elements() -> None:
    """The printed example: elements doubled along one axis, and three times along the other."""
    x = np.array([[[[1, 2], [3, 4]]]], F)
    found = answer(x, (1.0, 1.0, 2.0, 3.0), "nearest", 9)
    rows = [[1, 1, 1, 2, 2, 2]] * 2 + [[3, 3, 3, 4, 4, 4]] * 2
    assert found.expected.array.tolist() == [[rows]]
