"""NonMaxSuppression against corners compared pair by pair in float64, box after box taken from a list."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.answers import UnstableLength
from tests.reference.test_reductions import evaluate

DRAW = np.random.default_rng(24)
Array = NDArray[Any]


def overlap(first: Array, second: Array) -> float:
    """By counting the area of both boxes on the grid of all their corners."""
    ys, xs = (np.unique([*first[at::2], *second[at::2]]) for at in (0, 1))
    shared = either = 0.0
    for low, high in itertools.pairwise(ys):
        for left, right in itertools.pairwise(xs):
            holds = [
                min(box[0], box[2]) <= low < max(box[0], box[2])
                and min(box[1], box[3]) <= left < max(box[1], box[3])
                for box in (first, second)
            ]
            area = float((high - low) * (right - left))
            shared, either = shared + all(holds) * area, either + any(holds) * area
    return shared / either if either else 0.0


def by_lists(
    boxes: Array, scores: Array, most: int, threshold: float, least: float | None
) -> set[tuple[int, ...]]:
    found = set[tuple[int, ...]]()
    for batch in range(len(boxes)):
        for number in range(scores.shape[1]):
            left = {
                at: score
                for at, score in enumerate(scores[batch, number])
                if least is None or not score < least
            }
            taken = 0
            while left and taken < most:
                best = max(left, key=lambda at: left[at])
                found.add((batch, number, best))
                taken += 1
                del left[best]
                for other in list(left):
                    if overlap(boxes[batch, best], boxes[batch, other]) > threshold:
                        del left[other]
    return found


def select(
    boxes: Array,
    scores: Array,
    most: int,
    threshold: float,
    least: float | None,
    readings: dict[str, str] | None = None,
    **more: Any,
) -> set[tuple[int, ...]]:
    given = {
        "boxes": boxes.astype(np.float32),
        "scores": scores.astype(np.float32),
        "max_output_boxes_per_class": np.array(most),
        "iou_threshold": np.array(threshold, np.float32),
        **({} if least is None else {"score_threshold": np.array(least, np.float32)}),
    }
    answer = evaluate("NonMaxSuppression-11", given, readings, **more)
    assert answer.unordered
    assert answer.expected.shape[1:] == (3,)
    rows = [tuple(each) for each in answer.expected.array.tolist()]
    assert len(set(rows)) == len(rows)
    return set(rows)


def test_random_boxes_agree() -> None:
    for _ in range(300):
        batches, classes, count = DRAW.integers([1, 1, 3], [4, 4, 6]).tolist()
        boxes = DRAW.integers(0, 6, size=(batches, count, 4)) / 4
        scores = np.array([DRAW.permutation(count) for _ in range(batches * classes)]).reshape(
            batches, classes, count
        )
        most, threshold = int(DRAW.integers(0, count + 1)), float(DRAW.choice([0, 0.125, 0.25, 0.5, 1]))
        least = None if DRAW.random() < 0.3 else float(DRAW.integers(0, count))
        assert select(boxes, scores, most, threshold, least) == by_lists(
            boxes, scores, most, threshold, least
        )


def test_centres_are_the_corners_that_they_come_to() -> None:
    for _ in range(100):
        corners = DRAW.integers(0, 8, size=(1, 4, 4)) / 4
        low, high = (
            np.minimum(corners[..., :2], corners[..., 2:]),
            np.maximum(corners[..., :2], corners[..., 2:]),
        )
        centres = np.concatenate([((low + high) / 2)[..., ::-1], (high - low)[..., ::-1]], axis=-1)
        scores = DRAW.permutation(4).reshape(1, 1, 4)
        assert select(centres, scores, 4, 0.25, None, center_point_box=1) == by_lists(
            corners, scores, 4, 0.25, None
        )


def test_what_is_exactly_at_a_threshold_is_kept() -> None:
    boxes, scores = np.array([[[0, 0, 2, 1], [0, 0, 1, 1]]]), np.array([[[2, 1]]])
    assert len(select(boxes, scores, 2, 0.5, 1.0)) == 2
    assert len(select(boxes, scores, 2, 0.4375, 1.0)) == 1
    assert len(select(boxes, scores, 2, 0.5, 1.25)) == 1
    assert select(boxes, scores, 0, 0.5, None) == set()


@pytest.mark.parametrize(
    ("boxes", "scores", "threshold"),
    [
        ([[0, 0, 2, 1], [0, 0, 1, 1]], [1, 1], 0.25),  # equal scores, and one of the two goes
        ([[0, 0, 1, 1], [5, 5, 6, 6], [9, 9, 10, 10]], [1, 1, 1], 0.5),  # three of one score for two places
        ([[0, 0, 3, 1], [0, 0, 1, 1]], [2, 1], float(np.float32(1 / 3))),  # a third is no number of float32
        ([[0, 0, 1, 1], [0, 0, float("nan"), 1]], [2, 1], 0.5),
    ],
)
def test_where_rounding_or_an_order_decides_there_is_no_case(
    boxes: Any, scores: Any, threshold: float
) -> None:
    with pytest.raises(UnstableLength):
        select(np.array([boxes]), np.array([[scores]]), 2, threshold, None)


def test_what_a_threshold_that_is_left_out_removes_is_a_reading() -> None:
    boxes = np.array([[[5 * at, 0, 5 * at + 1, 1] for at in range(4)]])
    scores = np.array([[[-1, 0, 2, 1]]])
    kept = {
        option: {place for *_, place in select(boxes, scores, 4, 0.5, None, {"omitted_threshold": option})}
        for option in ("keeps_all", "keeps_zero", "keeps_positive")
    }
    assert kept == {"keeps_all": {0, 1, 2, 3}, "keeps_zero": {1, 2, 3}, "keeps_positive": {2, 3}}


def test_whether_boxes_without_area_suppress_each_other_is_a_reading() -> None:
    boxes = np.array([[[0, 0, 0, 1], [5, 5, 5, 6], [7, 7, 8, 8]]])
    scores = np.array([[[1, 3, 2]]])
    assert len(select(boxes, scores, 3, 0.5, None, {"overlap_of_flat_boxes": "none"})) == 3
    whole = {"overlap_of_flat_boxes": "whole"}
    assert {place for *_, place in select(boxes, scores, 3, 0.5, None, whole)} == {1, 2}
    assert len(select(boxes, scores, 3, 1.0, None, whole)) == 3
