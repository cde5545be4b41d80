"""MaxRoiPool against loops in float32, as programs divide regions, and against faults on purpose."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry import find_operator
from tests.reference.test_number_arrays import accepted

Array = NDArray[Any]
F32 = np.float32
Divide = Callable[[int, int, int], tuple[int, int]]
"""Of the elements of a region along an axis, the parts, and the number of one: the first, and behind."""


def overlapping(length: int, parts: int, number: int) -> tuple[int, int]:
    """As Fast R-CNN does, with the extent of a part in float32."""
    each = F32(length) / F32(parts)
    return math.floor(F32(number) * each), math.ceil(F32(number + 1) * each)


def apart(length: int, parts: int, number: int) -> tuple[int, int]:
    begin = number * length // parts
    return begin, max((number + 1) * length // parts, begin + 1)


def apart_by_rounding(length: int, parts: int, number: int) -> tuple[int, int]:
    begin, end = ((2 * each * length + parts) // (2 * parts) for each in (number, number + 1))
    begin = min(begin, length - 1)
    return begin, max(end, begin + 1)


def nearest(place: np.floating[Any]) -> int:
    return math.floor(float(place) + 0.5)


def pooled(X: Array, rois: Array, shape: tuple[int, int], scale: float, *, ends: int = 1,
           divide: Divide = overlapping, whole: Callable[[Any], int] = nearest) -> Array:  # fmt: skip
    """The greatest elements by plain loops; `ends` is 1 where the second corner belongs to a region."""
    found = np.zeros((len(rois), X.shape[1], *shape), dtype=X.dtype)
    for region, (image, *corners) in enumerate(rois):
        x1, y1, x2, y2 = (whole(F32(corner) * F32(scale)) for corner in corners)
        high, wide = (max(last - first + ends, 1) for first, last in ((y1, y2), (x1, x2)))
        for row in range(shape[0]):
            for column in range(shape[1]):
                top, bottom = (y1 + each for each in divide(high, shape[0], row))
                left, right = (x1 + each for each in divide(wide, shape[1], column))
                part = X[int(image), :, top:bottom, left:right]
                found[region, :, row, column] = part.max(axis=(1, 2))
    return found


def some_call(random: Random) -> tuple[Array, Array, tuple[int, int], float]:
    count, channels, height, width = (random.randint(*each) for each in ((1, 3), (1, 2), (2, 9), (2, 9)))
    listed = random.sample(range(-400, 600), count * channels * height * width)
    scale = random.choice([1.0, 0.5, 0.25, 0.3])
    rows = []
    for _ in range(random.randint(1, 3)):
        x1, y1 = random.randint(0, width - 1), random.randint(0, height - 1)
        x2, y2 = random.randint(x1, width - 1), random.randint(y1, height - 1)
        rows.append([random.randint(0, count - 1), *(each / scale for each in (x1, y1, x2, y2))])
    shape = random.randint(1, 4), random.randint(1, 4)
    return (
        np.array(listed, dtype=F32).reshape(count, channels, height, width),
        np.array(rows, F32),
        shape,
        scale,
    )


def answer(X: Array, rois: Array, shape: tuple[int, int], scale: float, /, **readings: str) -> Answer:
    reference = find_operator(OperatorName("ai.onnx", "MaxRoiPool", 22))
    given = {"X": tensor(X, "float"), "rois": tensor(rois, "float")}
    return reference.evaluate({"pooled_shape": shape, "spatial_scale": scale}, given, readings)[0]


WAYS: dict[str, tuple[Divide, int, dict[str, str]]] = {
    "Fast R-CNN": (overlapping, 1, {}),
    "without ends": (overlapping, 0, {"region_ends": "left_out"}),
    "apart": (apart, 1, {"region_parts": "apart"}),
    "apart by rounding": (apart_by_rounding, 1, {"region_parts": "apart"}),
    "apart without ends": (apart, 0, {"region_parts": "apart", "region_ends": "left_out"}),
}


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=[] if way == "Fast R-CNN" else pytest.mark.nightly) for way in WAYS]
)
def test_every_way_to_divide_regions_is_accepted_by_its_reading(way: str) -> None:
    divide, ends, readings = WAYS[way]
    random, told, closed = Random(way), 0, 0
    for _ in range(400):
        call = some_call(random)
        found = answer(*call, **readings)
        got = pooled(*call, ends=ends, divide=divide)
        assert found.expected.shape == got.shape
        assert accepted(found, got).all()
        told += got.size
        closed += int(np.isfinite(found.allowed).sum()) if found.allowed is not None else got.size
    assert closed > (0.2 if "region_parts" in readings else 0.5) * told


def test_corners_may_be_rounded_down_or_to_the_nearest() -> None:
    random = Random(5)
    for _ in range(200):
        X, rois, shape, scale = some_call(random)
        rois[:, 1:3] += F32(random.random() * 0.9 / scale)
        rois[:, 1:3] = np.minimum(rois[:, 1:3], (np.array(X.shape[:1:-1]) - 0.6) / scale)
        rois[:, 3:] = np.maximum(rois[:, 3:], rois[:, 1:3])
        found = answer(X, rois, shape, scale)
        for whole in (nearest, math.floor):
            got = pooled(X, rois, shape, scale, whole=whole)
            assert accepted(found, got).all()


def least_elements(X: Array, rois: Array, shape: tuple[int, int], scale: float) -> Array:
    return pooled(-X, rois, shape, scale) * F32(-1)


def exchanged(X: Array, rois: Array, shape: tuple[int, int], scale: float) -> Array:
    found = pooled(X, rois, (shape[1], shape[0]), scale)
    return np.ascontiguousarray(found.transpose(0, 1, 3, 2))


def of_first_image(X: Array, rois: Array, shape: tuple[int, int], scale: float) -> Array:
    return pooled(X, rois * np.array([0, 1, 1, 1, 1], F32), shape, scale)


def without_scale(X: Array, rois: Array, shape: tuple[int, int], scale: float) -> Array:
    extents = np.array([np.inf, X.shape[3] - 1, X.shape[2] - 1, X.shape[3] - 1, X.shape[2] - 1], F32)
    return pooled(X, np.minimum(rois, extents), shape, 1.0)


@pytest.mark.parametrize("fault", [least_elements, exchanged, of_first_image, without_scale])
def test_faults_are_noticed(fault: Callable[..., Array]) -> None:
    random, noticed = Random(7), 0
    for _ in range(60):
        call = some_call(random)
        noticed += not accepted(answer(*call), fault(*call)).all()
    assert noticed > 15


def test_nan_and_infinities_in_a_part() -> None:
    X = np.array([[[[1, math.nan, 3], [4, 5, -math.inf], [math.inf, 0, -9]]]], dtype=F32)
    rois = np.array([[0, 0, 0, 2, 2], [0, 2, 1, 2, 1], [0, 2, 2, 2, 2]], dtype=F32)
    whole = answer(X, rois, (1, 1), 1.0)
    assert np.isnan(whole.expected.array[0]).all()
    assert whole.expected.array[1:].reshape(-1).tolist() == [-math.inf, -9.0]
    assert answer(X, rois, (1, 1), 1.0, nan_in_max_min="ignored").expected.array[0].item() == math.inf


def test_no_region_is_an_answer_of_none() -> None:
    X = np.zeros((1, 2, 3, 3), dtype=F32)
    assert answer(X, np.zeros((0, 5), dtype=F32), (2, 1), 1.0).expected.shape == (0, 2, 2, 1)
