"""Support vectors beside sums in double precision, and beside a side told by them."""

from __future__ import annotations

import math
from random import Random
from statistics import NormalDist
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


def decided(
    kernel: str, X: np.ndarray[Any, Any], params: tuple[float, ...], vectors: list[list[list[float]]],
    weights: list[list[list[float]]], rho: list[float],
) -> list[dict[tuple[int, int], float]]:  # fmt: skip
    """For each row the score of each pair of classes, as libsvm adds them up.

    `vectors` are those of each class; of each of these `weights` has one for each other class.
    """
    count = len(vectors)
    found = []
    for row in X.tolist():
        scores: dict[tuple[int, int], float] = {}
        for one in range(count):
            for two in range(one + 1, count):
                terms = [rho[len(scores)]]
                for own, other in ((one, two), (two, one)):
                    place = other - (other > own)
                    for vector, held in zip(vectors[own], weights[own], strict=True):
                        terms.append(held[place] * kernel_of(kernel, row, vector, params))
                scores[one, two] = math.fsum(terms)
        found.append(scores)
    return found


def coupled(count: int, shares: dict[tuple[int, int], float], stop: float) -> list[float]:
    """Shares of classes from those of pairs, by the iteration that libsvm has published."""
    r = [[shares.get((i, j), 1 - shares.get((j, i), 0)) for j in range(count)] for i in range(count)]
    q = [[-r[j][t] * r[t][j] for j in range(count)] for t in range(count)]
    for t in range(count):
        q[t][t] = sum(r[j][t] ** 2 for j in range(count) if j != t)
    p = [1 / count] * count
    for _ in range(10000):
        qp = [sum(q[t][j] * p[j] for j in range(count)) for t in range(count)]
        pqp = sum(p[t] * qp[t] for t in range(count))
        if max(abs(each - pqp) for each in qp) < stop:
            break
        for t in range(count):
            diff = (pqp - qp[t]) / q[t][t]
            p[t] += diff
            pqp = (pqp + diff * (diff * q[t][t] + 2 * qp[t])) / (1 + diff) ** 2
            for j in range(count):
                qp[j] = (qp[j] + diff * q[t][j]) / (1 + diff)
                p[j] /= 1 + diff
    return p


def votes_of(count: int, scores: dict[tuple[int, int], float]) -> list[int]:
    votes = [0] * count
    for (one, two), score in scores.items():
        votes[one if score > 0 else two] += 1
    return votes


def classes_of(
    random: Random, count: int, kernel: str, kind: type
) -> tuple[Any, Any, list[dict[tuple[int, int], float]]]:
    """Rows, attributes, and the scores of the pairs of each row."""
    X: np.ndarray[Any, Any] = np.array([[random.uniform(-3, 3) for _ in range(2)] for _ in range(6)]).astype(
        kind
    )
    single = [float(np.float32(random.uniform(-2, 2))) for _ in range(400)].__iter__()
    vectors = [[[next(single) for _ in range(2)] for _ in range(1 + own % 3)] for own in range(count)]
    weights = [[[next(single) for _ in range(count - 1)] for _ in held] for held in vectors]
    rho = [next(single) for _ in range(count * (count - 1) // 2)]
    params = (0.3, -0.5, 3.0)
    every = [held for own in weights for held in own]
    attributes = {
        "kernel_type": kernel,
        "kernel_params": params,
        "vectors_per_class": tuple(map(len, vectors)),
        "support_vectors": tuple(number for own in vectors for vector in own for number in vector),
        "coefficients": tuple(held[place] for place in range(count - 1) for held in every),
        "rho": tuple(rho),
    }
    return X, attributes, decided(kernel, X, params, vectors, weights, rho)


NAMES = ("b", "", "ä", "c")


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.int32])
def test_pairs_vote_for_a_class(count: int, kernel: str, kind: type) -> None:
    X, attributes, scores = classes_of(Random(f"{count}{kernel}{kind}"), count, kernel, kind)
    given = {"X": tensor(X)}
    label, got = answers("SVMClassifier", 1, given, **attributes, classlabels_strings=NAMES[:count])
    rows = [list(row.values()) for row in scores]
    expected = np.array([[-row[0], row[0]] for row in rows] if count == 2 else rows, np.float32)
    assert accepted(got, expected).all()
    assert not accepted(got, expected * np.float32(1.001)).all(axis=1).any()
    tops = [max(range(count), key=votes_of(count, row).__getitem__) for row in scores]
    assert [each.decode() for each in label.expected.array.tolist()] == [NAMES[top] for top in tops]
    assert not label.alternatives
    stated = attributes | {"classlabels_ints": (7, 8, 9)[:count], "post_transform": "LOGISTIC"}
    label, got = answers("SVMClassifier", 1, given, {"ties": "last", "two_scores": "of_first"}, **stated)
    last = [max(range(count), key=lambda at, row=row: (votes_of(count, row)[at], at)) for row in scores]  # type: ignore[misc]
    assert label.expected.array.tolist() == [(7, 8, 9)[top] for top in last]
    shares = 1 / (1 + np.exp(expected.astype(np.float64) * (1 if count == 2 else -1)))
    assert accepted(got, shares.astype(np.float32)).all()
    for name in ("coefficients", "support_vectors", "rho"):
        wrong = attributes | {name: attributes[name][::-1]}
        if wrong != attributes:
            _, off = answers("SVMClassifier", 1, given, **wrong, classlabels_strings=NAMES[:count])
            assert not accepted(off, expected).all()


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("kernel", ["RBF", "LINEAR"])
def test_shares_of_pairs_become_those_of_classes(count: int, kernel: str) -> None:
    random = Random(f"shares{count}{kernel}")
    X, attributes, scores = classes_of(random, count, kernel, np.float32)
    pairs = list(scores[0])
    slopes = tuple(-float(np.float32(random.uniform(0.2, 2))) for _ in pairs)
    shifts = tuple(float(np.float32(random.uniform(-0.5, 0.5))) for _ in pairs)
    stated = attributes | {"prob_a": slopes, "prob_b": shifts, "classlabels_ints": (7, 8, 9, 10)[:count]}
    label, got = answers("SVMClassifier", 1, {"X": tensor(X)}, **stated)
    for stop in (1e-12, 0.005 / count):
        expected = []
        for row in scores:
            held = {
                pair: min(max(1 / (1 + math.exp(a * row[pair] + b)), 1e-7), 1 - 1e-7)
                for pair, a, b in zip(pairs, slopes, shifts, strict=True)
            }
            expected.append(coupled(count, held, stop))
        assert accepted(got, np.array(expected, np.float32)).all()
    assert not accepted(got, np.array(expected, np.float32) + np.float32(0.1)).any()
    assert got.allowed is not None
    assert float(np.max(got.allowed)) < 0.05
    tops = [max(range(count), key=votes_of(count, row).__getitem__) for row in scores]
    assert label.expected.array.tolist() == [(7, 8, 9, 10)[top] for top in tops]
    label, _ = answers("SVMClassifier", 1, {"X": tensor(X)}, {"label_by": "shares"}, **stated)
    for place, shares in enumerate(expected):
        top = (7, 8, 9, 10)[shares.index(max(shares))]
        assert top == label.expected.array[place] or top in (label.alternatives or {}).get(place, ())


@pytest.mark.parametrize("transform", ["NONE", "PROBIT"])
def test_shares_are_those_of_a_step_at_which_programs_stop_or_of_none(transform: str) -> None:
    """Of two classes those of their pair, or what libsvm's steps hold from its stop on."""
    X = np.linspace(-7.5, 7.5, 61, dtype=np.float32).reshape(-1, 1)
    stated: dict[str, Any] = {
        "kernel_params": (0.0, 0.0, 0.0),
        "coefficients": (0.5, -0.25),
        "support_vectors": (1.0, -1.0),
        "vectors_per_class": (1, 1),
        "rho": (0.0,),
        "classlabels_ints": (7, 8),
        "prob_a": (-1.0,),
        "prob_b": (0.125,),
    }
    options = {"label_by": "votes"} | ({"probit": "quantile"} if transform == "PROBIT" else {})
    _, got = answers("SVMClassifier", 1, {"X": tensor(X)}, options, **stated, post_transform=transform)
    firsts = [1 / (1 + math.exp(-0.75 * x + 0.125)) for x in X[:, 0].tolist()]

    def shares(stop: float) -> np.ndarray[Any, Any]:
        found = np.array([coupled(2, {(0, 1): each}, stop) for each in firsts])
        if transform == "PROBIT":
            found = np.array([[NormalDist().inv_cdf(each) for each in row] for row in found])
        return found

    for stop in (1e-12, 1e-4, 0.0025):
        assert accepted(got, shares(stop).astype(np.float32)).all()
    exact = shares(1e-12)
    assert got.allowed is not None
    assert np.isfinite(got.allowed).all()
    for wrong in (exact * 1.01, exact + 0.006, shares(0.05), exact[:, ::-1]):
        assert np.count_nonzero(~accepted(got, wrong.astype(np.float32))) > 20


def test_a_score_that_a_program_may_hold_as_zero_stays_zero_or_is_shared() -> None:
    """A third less three ninths is no zero, and floats may make one of it."""
    stated: dict[str, Any] = {
        "kernel_params": (0.0, 0.0, 0.0),
        "coefficients": (0.1, 0.2, 0.3, 1.0, 1.0, 1.0),
        "support_vectors": (1.0, 1.0, -1.0),
        "vectors_per_class": (1, 1, 1),
        "rho": (-0.3, 0.5, 0.75),
        "classlabels_ints": (7, 8, 9),
    }
    X = tensor(np.array([[1.0], [2.0]], np.float32))
    _, raw = answers("SVMClassifier", 1, {"X": X}, **stated)
    scores = raw.expected.array.astype(np.float64)
    assert 0 < abs(scores[0, 0]) < 1e-7
    _, got = answers("SVMClassifier", 1, {"X": X}, **stated, post_transform="SOFTMAX_ZERO")
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    others = shares.copy()
    others[0] = [0, *np.exp(scores[0, 1:]) / np.exp(scores[0, 1:]).sum()]
    for right in (shares, others):
        assert accepted(got, right.astype(np.float32)).all()
    assert not accepted(got, (shares * 1.01).astype(np.float32))[1].any()
    assert not accepted(got, (others + 2).astype(np.float32)).any()


def test_a_pair_that_may_vote_for_either_has_both_labels() -> None:
    given: dict[str, Any] = {
        "kernel_params": (0.0, 0.0, 0.0),
        "coefficients": (0.1, 0.2),
        "support_vectors": (1.0, 1.0),
        "vectors_per_class": (1, 1),
        "rho": (-0.3,),
        "classlabels_ints": (7, 8),
    }
    label, _ = answers("SVMClassifier", 1, {"X": tensor(np.array([[1.0], [2.0]], np.float32))}, **given)
    assert label.expected.array[1] == 7
    assert set((label.alternatives or {0: ()})[0]) | {int(label.expected.array[0])} == {7, 8}
    assert list(label.alternatives or {}) == [0]
