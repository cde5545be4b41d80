"""Support vectors beside sums in double precision, and beside a side told by them."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import tensor
from tests.reference.learned_models import answers
from tests.reference.test_number_arrays import accepted

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


def kernel_of(kernel: str, row: list[float], vector: list[float], params: tuple[float, ...]) -> float:
    gamma, coef0, degree = (float(np.float32(param)) for param in params)
    inner = math.fsum(x * v for x, v in zip(row, vector, strict=True))
    if kernel == "RBF":
        return math.exp(-gamma * math.fsum((x - v) ** 2 for x, v in zip(row, vector, strict=True)))
    found: dict[str, float] = {
        "LINEAR": inner,
        "POLY": (gamma * inner + coef0) ** degree,
        "SIGMOID": math.tanh(gamma * inner + coef0),
    }
    return found[kernel]


def drawn(random: Random, kernel: str, kind: type) -> tuple[np.ndarray[Any, Any], Any, list[float]]:
    """Rows, attributes, and the score of each row."""
    X: np.ndarray[Any, Any] = np.array([[random.uniform(-3, 3) for _ in range(3)] for _ in range(4)]).astype(
        kind
    )
    vectors = [[float(np.float32(random.uniform(-2, 2))) for _ in range(3)] for _ in range(5)]
    weights = [float(np.float32(random.uniform(-1, 1))) for _ in vectors]
    params, rho = (0.3, -0.5, 3.0), 0.75
    scores = [
        rho
        + math.fsum(
            weight * kernel_of(kernel, row, vector, params)
            for weight, vector in zip(weights, vectors, strict=True)
        )
        for row in X.tolist()
    ]
    attributes = {
        "kernel_type": kernel,
        "kernel_params": params,
        "coefficients": tuple(weights),
        "support_vectors": tuple(number for vector in vectors for number in vector),
        "n_supports": len(vectors),
        "rho": (rho,),
    }
    return X, attributes, scores


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.int32])
def test_a_score_is_the_sum_of_weighted_kernels(kernel: str, kind: type) -> None:
    X, attributes, scores = drawn(Random(f"{kernel}{kind}"), kernel, kind)
    expected = np.array(scores, np.float32)[:, None]
    (got,) = answers("SVMRegressor", 1, {"X": tensor(X)}, **attributes)
    assert got.expected.element_type.name == "float"
    assert accepted(got, expected).all()
    assert not accepted(got, expected * np.float32(1.001)).any()
    for name in ("coefficients", "support_vectors"):
        (wrong,) = answers("SVMRegressor", 1, {"X": tensor(X)}, **attributes | {name: attributes[name][::-1]})
        assert not accepted(wrong, expected).all()
    (got,) = answers("SVMRegressor", 1, {"X": tensor(X)}, **attributes, post_transform="LOGISTIC")
    shares = np.array([[1 / (1 + math.exp(-score))] for score in scores], np.float32)
    assert accepted(got, shares).all()


def test_what_is_of_one_class_has_a_side_or_a_score() -> None:
    X, attributes, scores = drawn(Random("one class"), "RBF", np.float32)
    middle = sorted(scores)[1] + 1e-3
    attributes["rho"] = (0.75 - middle,)
    given = {"X": tensor(X)}
    (side,) = answers("SVMRegressor", 1, given, {"of_one_class": "side"}, **attributes, one_class=1)
    assert side.expected.array[:, 0].tolist() == [1 if score > middle else -1 for score in scores]
    assert {-1, 1} == set(side.expected.array[:, 0].tolist())
    assert side.alternatives is None
    (score,) = answers("SVMRegressor", 1, given, {"of_one_class": "score"}, **attributes, one_class=1)
    assert accepted(score, np.array([[each - middle] for each in scores], np.float32)).all()


def test_a_score_that_may_be_zero_has_either_side() -> None:
    given: dict[str, Any] = {
        "kernel_type": "LINEAR",
        "kernel_params": (0.0, 0.0, 0.0),
        "coefficients": (0.1, 0.2),
        "support_vectors": (1.0, 1.0),
        "n_supports": 2,
        "rho": (-0.3,),
        "one_class": 1,
    }
    (got,) = answers("SVMRegressor", 1, {"X": tensor(np.array([[1.0], [2.0]], np.float32))}, **given)
    assert got.expected.array[1, 0] == 1
    assert set((got.alternatives or {0: ()})[0]) == {1.0, -1.0}
    assert list(got.alternatives or {}) == [0]
