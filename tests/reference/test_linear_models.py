"""Linear models beside sums in double precision."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import tensor
from tests.reference.learned_models import answers, listed
from tests.reference.test_number_arrays import accepted
from tests.reference.test_tree_ensembles import transformed

KINDS = (np.float32, np.float64, np.int64, np.int32)


def drawn(random: Random, rows: int) -> tuple[list[float], list[float]]:
    numbers = [float(np.float32(random.uniform(-2, 2))) for _ in range(rows * 4)]
    return numbers[: rows * 3], numbers[rows * 3 :]


def sums(row: list[float], coefficients: list[float], intercepts: list[float] | None) -> list[float]:
    found = []
    for at in range(len(coefficients) // len(row)):
        own = coefficients[at * len(row) : (at + 1) * len(row)]
        found.append(
            sum(x * w for x, w in zip(row, own, strict=True)) + (intercepts[at] if intercepts else 0)
        )
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("targets", [1, 3])
def test_targets_have_their_coefficients_side_by_side(kind: type, targets: int) -> None:
    random = Random(f"{kind}{targets}")
    for with_intercepts in (True, False):
        numbers = [[random.uniform(-9, 9) for _ in range(3)] for _ in range(4)]
        X: np.ndarray[Any, Any] = np.array(numbers).astype(kind)
        coefficients, intercepts = drawn(random, targets)
        (got,) = answers(
            "LinearRegressor",
            1,
            {"X": tensor(X)},
            targets=targets,
            coefficients=tuple(coefficients),
            intercepts=tuple(intercepts) if with_intercepts else None,
        )
        plain = [sums(row, coefficients, intercepts if with_intercepts else None) for row in X.tolist()]
        expected = np.array(plain, np.float32)
        assert got.expected.element_type.name == "float"
        assert accepted(got, expected).all()
        assert not accepted(got, expected * np.float32(1.001)).any()


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("strings", [False, True])
def test_classes_have_a_row_each(transform: str, strings: bool) -> None:
    random = Random(f"{transform}{strings}")
    labels: tuple[Any, ...] = ("x", "", "z") if strings else (5, -3, 2**40)
    for shape in ((4, 3), (3,)):
        X = np.array([random.uniform(-3, 3) for _ in range(math.prod(shape))], np.float32).reshape(shape)
        coefficients, intercepts = drawn(random, 3)
        given: dict[str, Any] = {f"classlabels_{'strings' if strings else 'ints'}": labels}
        label, scores = answers(
            "LinearClassifier",
            1,
            {"X": tensor(X)},
            coefficients=tuple(coefficients),
            intercepts=tuple(intercepts),
            post_transform=transform,
            **given,
        )
        rows = [sums(row, coefficients, intercepts) for row in X.reshape(-1, 3).tolist()]
        expected = rows if transform == "NONE" else [transformed(row, transform) for row in rows]
        assert accepted(scores, np.array(expected, np.float32)).all()
        assert listed(label.expected) == [labels[row.index(max(row))] for row in rows]


def test_labels_of_scores_that_programs_cannot_tell_apart_may_be_either() -> None:
    X = tensor(np.array([[0.1, 0.2, 0.3]], np.float32))
    for step, either in ((1.0, True), (1.001, False)):
        coefficients = (0.1, 0.2, 0.3, 0.3, 0.1, 0.7 / 3 * step, -1.0, 0.0, 0.0)
        label, _ = answers(
            "LinearClassifier",
            1,
            {"X": X},
            coefficients=coefficients,
            intercepts=(0.0, 0.02, 0.0),
            classlabels_ints=(4, 5, 6),
        )
        assert set((label.alternatives or {0: ()})[0]) == ({4, 5} if either else set())


@pytest.mark.parametrize("transform", ["LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_scores_that_floats_add_up_to_infinities_may_have_any_share(transform: str) -> None:
    most = float(np.finfo(np.float32).max)
    _, scores = answers(
        "LinearClassifier",
        1,
        {"X": tensor(np.array([[most, -most]], np.float32))},
        coefficients=(2.0, 2.0, -2.0, -2.0),
        intercepts=(0.5, -0.5),
        classlabels_ints=(0, 1),
        post_transform=transform,
    )
    for shares in ([1, 0], [0, 1], [math.nan, math.nan], [0.5, 0.5]):
        assert accepted(scores, np.array([shares], np.float32)).all()
    for shares in ([2, -1], [-0.5, 1.5]):
        assert not accepted(scores, np.array([shares], np.float32)).any()


@pytest.mark.parametrize("intercept", [math.inf, -math.inf, math.nan])
def test_an_intercept_that_is_no_number_goes_into_the_sum_as_it_is(intercept: float) -> None:
    X = tensor(np.array([[1.0, 2.0]], np.float32))
    (found,) = answers("LinearRegressor", 1, {"X": X}, coefficients=(1.0, 1.0), intercepts=(intercept,))
    assert np.array_equal(found.expected.array, [[intercept]], equal_nan=True)
    (scaled,) = answers("Scaler", 1, {"X": X}, scale=(2.0, 2.0), offset=(intercept, 1.0))
    assert np.array_equal(scaled.expected.array, [[2 * (1 - intercept), 2.0]], equal_nan=True)
