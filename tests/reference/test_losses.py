"""NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss against mpmath, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
NEGATIVE, CROSS = "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"
REDUCTIONS = ("none", "sum", "mean")
IGNORED = 2


def data_of(kind: str) -> tuple[Array, Array, Array]:
    """Scores of 9 images with 5 classes and 3 places each, labels, and weights of classes."""
    draw = np.random.default_rng(41)
    scores = draw.normal(0, 2, (9, 5, 3)).astype(KINDS[kind])
    return scores, draw.integers(0, 5, (9, 3)), draw.uniform(0.2, 2, 5).astype(KINDS[kind])


def log_probabilities(scores: Array) -> Array:
    apart = scores - scores.max(axis=1, keepdims=True)
    powers = np.exp(apart)
    summed = powers[:, :1]
    for at in range(1, powers.shape[1]):
        summed = (summed + powers[:, at : at + 1]).astype(scores.dtype)
    return np.asarray(apart - np.log(summed))


def added(values: Array) -> Any:
    """The sum from the first element on, each rounded to their type."""
    found = values.dtype.type(0)
    for each in values.reshape(-1):
        found = values.dtype.type(found + each)
    return found


def losses(name: str, kind: str, weighted: bool, stage: type[Any]) -> tuple[Array, Array]:
    """Of each label its loss and its weight; 0 where it is ignored."""
    scores, labels, weights = data_of(kind)
    told = scores.astype(stage)
    told = log_probabilities(told) if name == CROSS else told
    picked = np.take_along_axis(told, labels[:, None], axis=1)[:, 0]
    shares = weights.astype(stage)[labels] if weighted else np.ones(labels.shape, stage)
    kept = (labels != IGNORED).astype(stage)
    return (-picked * shares * kept).astype(stage), (shares * kept).astype(stage)


def reduced(loss: Array, shares: Array, reduction: str) -> Array:
    if reduction == "none":
        return loss
    return np.asarray(added(loss) if reduction == "sum" else added(loss) / added(shares))


@cache
def asked(name: str, kind: str, reduction: str, weighted: bool) -> Asked:
    scores, labels, weights = data_of(kind)
    first, second, third = (
        ("input", "target", "weight") if name == NEGATIVE else ("scores", "labels", "weights")
    )
    given = [(first, scores), (second, labels), (third, weights)][: 3 if weighted else 2]
    return Asked.of(name, kind, given, {"reduction": reduction, "ignore_index": IGNORED})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [NEGATIVE, CROSS])
def test_an_honest_program_is_accepted(name: str, weighted: bool, reduction: str, kind: str) -> None:
    """In the type itself, pairwise, and in double precision rounded at the end."""
    narrow = KINDS[kind]
    loss, shares = losses(name, kind, weighted, narrow)
    ways = [reduced(loss, shares, reduction)]
    if reduction != "none" and kind != "bfloat16":
        summed = loss.sum(dtype=narrow)
        ways.append(np.asarray(summed if reduction == "sum" else summed / shares.sum(dtype=narrow)))
    ways.append(reduced(*losses(name, kind, weighted, np.float64), reduction))
    for got in ways:
        assert not asked(name, kind, reduction, weighted).wrong(got.astype(narrow)).any()


FAULTS: dict[str, Callable[[Array, Array, Array], Any]] = {
    "the sign forgotten": lambda loss, shares, labels: -added(loss) / added(shares),
    "weights left out below": lambda loss, shares, labels: added(loss) / np.float32(np.count_nonzero(shares)),
    "divided by the count of images": lambda loss, shares, labels: added(loss) / np.float32(len(labels)),
    "the last label left out": lambda loss, shares, labels: added(loss[:-1]) / added(shares[:-1]),
    "not divided": lambda loss, shares, labels: added(loss),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", [NEGATIVE, CROSS])
def test_a_faulty_program_is_not(name: str, fault: str) -> None:
    got = np.asarray(FAULTS[fault](*losses(name, "float", True, np.float32), data_of("float")[1]))
    assert asked(name, "float", "mean", True).wrong(got.astype(np.float32)).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_whether_ignored_labels_count_in_a_mean_is_a_reading(weighted: bool) -> None:
    _, labels, weights = data_of("float")
    loss, _ = losses(NEGATIVE, "float", weighted, np.float32)
    every = weights[labels] if weighted else np.ones(labels.shape, np.float32)
    got = np.asarray(added(loss) / added(every)).astype(np.float32)
    found = asked(NEGATIVE, "float", "mean", weighted)
    assert not found.wrong(got).any()
    assert Asked("float", found.accepted[:1]).wrong(got).any()


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_values_are_those_of_mpmath_rounded_once(reduction: str) -> None:
    scores, labels, weights = data_of("float")
    expected = asked(CROSS, "float", reduction, True).accepted[0][0].expected.array
    told, shares = [], []
    with mpmath.workprec(300):
        for image, row in enumerate(labels.tolist()):
            for place, label in enumerate(row):
                each = [mpmath.mpf(float(score)) for score in scores[image, :, place]]
                weight = 0 if label == IGNORED else mpmath.mpf(float(weights[label]))
                share = mpmath.exp(each[label]) / mpmath.fsum(map(mpmath.exp, each))
                told.append(-mpmath.log(share) * weight)
                shares.append(weight)
        summed = mpmath.fsum(told)
        exact = {"none": told, "sum": [summed], "mean": [summed / mpmath.fsum(shares)]}[reduction]
    with mpmath.workprec(24):
        assert [float(+each) for each in exact] == expected.reshape(-1).tolist()
