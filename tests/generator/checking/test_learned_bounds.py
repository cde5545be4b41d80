"""What learned models may give behind a scaler, beside models of numpy and plain Python on moved features."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.output_comparison import compare_output
from conformance.suite.cases import ExpectedOutput
from generator.models.chains.chains import Link
from generator.models.check.pushed_bounds import is_bounded, loosely
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

Array = NDArray[Any]
WIDTH, ROWS, TREES = 3, 40, 5
LABELS = ["no", "perhaps", "yes"]


def outcomes(name: str, version: int, X: Array, error: float, **given: tuple[str, Any]) -> list[Any]:
    """What a node may give, once for each outcome, for features that are off by so much."""
    outputs = ("Y", "Z") if name.endswith("Classifier") else ("Y",)
    held = {key: attribute(kind, value) for key, (kind, value) in given.items()}
    link = Link(OperatorName("ai.onnx.ml", name, version), held, ("X",), outputs)
    return list(loosely(link, [ExpectedOutput("X", tensor(X), np.full(X.shape, error))]))


def is_accepted(wanted: ExpectedOutput, got: Tensor) -> bool:
    return compare_output(wanted, got).difference is None


def moved(random: Random, X: Array, error: float) -> Array:
    """Features within the error, at its ends above all."""
    sides = [random.choice((-1, 0, 1, 1, -1, random.uniform(-1, 1))) for _ in range(X.size)]
    return (X.astype(np.float64) + 0.999 * error * np.array(sides).reshape(X.shape)).astype(np.float32)


def features(random: Random) -> Array:
    return np.array([random.uniform(-2, 2) for _ in range(ROWS * WIDTH)], np.float32).reshape(ROWS, WIDTH)


def numbers(random: Random, count: int) -> list[float]:
    return [float(np.float32(random.uniform(-1, 1))) for _ in range(count)]


def logistic(scores: Array) -> Array:
    return 1 / (1 + np.exp(-scores))


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


FINAL: dict[str, Callable[[Array], Array]] = {
    "NONE": lambda scores: scores,
    "LOGISTIC": logistic,
    "SOFTMAX": softmax,
}


def check_classes(found: list[Any], right: list[Array], final: Callable[[Array], Array]) -> None:
    """That the scores and labels of every right program are accepted, and others are not."""
    assert all(is_bounded(value).all() for outputs in found for value in outputs)
    decided = np.ones(ROWS, np.bool_)
    seen = np.array([scores.argmax(axis=1) for scores in right])
    for scores in right:
        labels = [LABELS[place] for place in scores.argmax(axis=1)]
        shares = tensor(final(scores).astype(np.float32))
        assert any(is_accepted(one, texts(labels)) and is_accepted(other, shares) for one, other in found)
    decided = (seen == seen[0]).all(axis=0)
    assert decided.sum() > 5
    accepted = [{each.index: each.values for each in labels.alternatives} for labels, _ in found]
    open_rows = {row for others in accepted for row in others}
    assert open_rows >= set(np.flatnonzero(~decided).tolist())
    assert len(open_rows) < ROWS - 5
    # A label that no right program gives is wrong, and so are scores that are far off.
    row = next(row for row in range(ROWS) if row not in open_rows)
    wrong = [LABELS[place] for place in seen[0]]
    wrong[row] = LABELS[(seen[0][row] + 1) % right[0].shape[1]]
    assert not any(is_accepted(labels, texts(wrong)) for labels, _ in found)
    off = final(right[0] * 1.5 + 0.5).astype(np.float32)
    off[:, 0] = final(right[0]).astype(np.float32)[:, 0] * 2 + 1
    assert not any(is_accepted(scores, tensor(off)) for _, scores in found)


def texts(given: list[str]) -> Tensor:
    return tensor(np.array(given, dtype=object), "string")


@pytest.mark.parametrize("final", list(FINAL))
@pytest.mark.parametrize("error", [1e-5, 0.02])
def test_linear_models_behind_an_error(final: str, error: float) -> None:
    random = Random(f"{final}{error}")
    X = features(random)
    weights, added = numbers(random, 3 * WIDTH), numbers(random, 3)

    def scores(rows: Array) -> Array:
        return np.asarray(rows.astype(np.float64) @ np.array(weights).reshape(3, WIDTH).T + np.array(added))

    stated: dict[str, tuple[str, Any]] = {
        "coefficients": ("floats", weights),
        "intercepts": ("floats", added),
        "post_transform": ("string", final),
    }
    right = [scores(moved(random, X, error)) for _ in range(30)]
    found = outcomes("LinearClassifier", 1, X, error, **stated, classlabels_strings=("strings", LABELS))
    check_classes(found, right, FINAL[final])
    ((got,),) = outcomes("LinearRegressor", 1, X, error, **stated, targets=("int", 3))
    for each in right:
        assert is_accepted(got, tensor(FINAL[final](each).astype(np.float32)))
    assert float(np.max(got.allowed)) < 20 * error + 1e-4


def grown(random: Random, depth: int) -> Any:
    """A tree as nested pairs: (feature, threshold, true, false), or the votes of a leaf."""
    if not depth:
        return [float(np.float32(random.uniform(-1, 1))) for _ in range(3)]
    threshold = float(np.float32(random.uniform(-1.5, 1.5)))
    return (random.randrange(WIDTH), threshold, grown(random, depth - 1), grown(random, depth - 1))


def leaf(tree: Any, row: Array) -> list[float]:
    while isinstance(tree, tuple):
        feature, threshold, true, false = tree
        tree = true if row[feature] <= threshold else false
    return list(tree)


def listed(forest: list[Any], kind: str, classes: int) -> dict[str, tuple[str, Any]]:
    """The forest as the attributes of an operator."""
    nodes: list[tuple[Any, ...]] = []
    votes: list[tuple[Any, ...]] = []

    def add(tree: Any, number: int) -> int:
        place: int = sum(node[0] == number for node in nodes)
        nodes.append((number, place))
        at = len(nodes) - 1
        if isinstance(tree, tuple):
            feature, threshold, true, false = tree
            sides = add(true, number), add(false, number)
            nodes[at] = (number, place, "BRANCH_LEQ", feature, threshold, *sides)
        else:
            nodes[at] = (number, place, "LEAF", 0, 0.0, 0, 0)
            votes.extend((number, place, target, tree[target]) for target in range(classes))
        return place

    for number, tree in enumerate(forest):
        add(tree, number)
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    kinds = ("ints", "ints", "strings", "ints", "floats", "ints", "ints")
    found: dict[str, tuple[str, Any]] = {
        f"nodes_{name}": (form, list(column))
        for name, form, column in zip(names, kinds, zip(*nodes, strict=True), strict=True)
    }
    ends = ("treeids", "nodeids", "ids", "weights")
    for name, column in zip(ends, zip(*votes, strict=True), strict=True):
        found[f"{kind}_{name}"] = ("floats" if name == "weights" else "ints", list(column))
    return found


@pytest.mark.parametrize("final", ["NONE", "SOFTMAX"])
@pytest.mark.parametrize("error", [1e-5, 0.02])
def test_every_leaf_counts_that_a_row_can_come_to(final: str, error: float) -> None:
    random = Random(f"trees{final}{error}")
    X = features(random)
    forest = [grown(random, 3) for _ in range(TREES)]
    X[0, 0] = forest[0][1]
    X[1] = [forest[0][1] if feature == forest[0][0] else 1 for feature in range(WIDTH)]

    def scores(rows: Array) -> Array:
        return np.array([np.sum([leaf(tree, row) for tree in forest], axis=0) for row in rows])

    right = [scores(moved(random, X, error)) for _ in range(30)]
    assert any((each != right[0]).any() for each in right[1:]), "some row comes to two leaves"
    stated = listed(forest, "class", 3) | {"classlabels_strings": ("strings", LABELS)}
    found = outcomes("TreeEnsembleClassifier", 3, X, error, **stated, post_transform=("string", final))
    check_classes(found, right, FINAL[final])
    stated = listed(forest, "target", 3) | {"n_targets": ("int", 3)}
    ((got,),) = outcomes("TreeEnsembleRegressor", 3, X, error, **stated)
    for each in right:
        assert is_accepted(got, tensor(each.astype(np.float32)))
    assert not is_accepted(got, tensor((right[0] + 0.25).astype(np.float32)))
    assert (got.allowed < 1e-4).any(axis=1).sum() > ROWS // 3


def test_of_one_score_every_reading_has_its_labels() -> None:
    random = Random("one score")
    X = features(random)
    forest = [grown(random, 2) for _ in range(TREES)]
    stated = listed(forest, "class", 1) | {"classlabels_strings": ("strings", LABELS[:2])}
    found = outcomes("TreeEnsembleClassifier", 3, X, 1e-3, **stated, post_transform=("string", "LOGISTIC"))
    scores = np.array([sum(leaf(tree, row)[0] for tree in forest) for row in moved(random, X, 1e-3)])
    shares = np.stack([1 - logistic(scores), logistic(scores)], axis=1).astype(np.float32)
    labels = texts([LABELS[int(score > 0)] for score in scores])
    assert any(is_accepted(one, labels) and is_accepted(other, tensor(shares)) for one, other in found)
    wrong = texts([LABELS[int(score <= 0)] for score in scores])
    assert not any(is_accepted(one, wrong) and is_accepted(other, tensor(shares)) for one, other in found)


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vectors_behind_an_error(kernel: str) -> None:
    random = Random(kernel)
    error = 0.01
    X = features(random)
    weights, vectors = numbers(random, 4), np.array(numbers(random, 4 * WIDTH)).reshape(4, WIDTH)

    def scores(rows: Array) -> Array:
        inner = rows.astype(np.float64) @ vectors.T
        apart = ((rows[:, None, :].astype(np.float64) - vectors) ** 2).sum(axis=-1)
        kernels = {
            "LINEAR": inner,
            "POLY": (0.5 * inner - 0.25) ** 3,
            "RBF": np.exp(-0.5 * apart),
            "SIGMOID": np.tanh(0.5 * inner - 0.25),
        }
        return np.asarray(kernels[kernel] @ np.array(weights) + 0.125)[:, None]

    ((got,),) = outcomes(
        "SVMRegressor", 1, X, error, coefficients=("floats", weights), rho=("floats", [0.125]),
        support_vectors=("floats", vectors.reshape(-1).tolist()), n_supports=("int", 4),
        kernel_type=("string", kernel), kernel_params=("floats", [0.5, -0.25, 3.0]),
    )  # fmt: skip
    assert is_bounded(got).all()
    for _ in range(30):
        assert is_accepted(got, tensor(scores(moved(random, X, error)).astype(np.float32)))
    assert not is_accepted(got, tensor((scores(X) + 1).astype(np.float32)))
    assert float(np.median(got.allowed)) < 50 * error


def of_pairs(kernel: str, X: Array, weights: Array, vectors: Array, rho: Array) -> Array:
    """The score of each pair of classes, four vectors to a class, as libsvm has it."""
    rows = X.astype(np.float64)
    apart = ((rows[:, None, :] - vectors) ** 2).sum(axis=-1)
    found = {"LINEAR": rows @ vectors.T, "RBF": np.exp(-0.5 * apart)}[kernel]
    classes = len(weights) + 1
    pairs = [(one, two) for one in range(classes) for two in range(one + 1, classes)]
    scores = []
    for number, (one, two) in enumerate(pairs):
        mine, theirs = slice(4 * one, 4 * one + 4), slice(4 * two, 4 * two + 4)
        score = found[:, mine] @ weights[two - 1, mine] + found[:, theirs] @ weights[one, theirs]
        scores.append(score + rho[number])
    return np.stack(scores, axis=1)


def voted(scores: Array) -> Array:
    """The class with the most votes, the first of those with equally many."""
    pairs = [(0, 1)] if scores.shape[1] == 1 else [(0, 1), (0, 2), (1, 2)]
    votes = np.zeros((len(scores), 3))
    for place, (one, two) in enumerate(pairs):
        votes[np.arange(len(scores)), np.where(scores[:, place] > 0, one, two)] += 1
    return np.asarray(votes.argmax(axis=1))


@pytest.mark.parametrize("kernel", ["LINEAR", "RBF"])
@pytest.mark.parametrize("final", ["scores of two", "shares of two", "scores of three"])
@pytest.mark.parametrize("error", [1e-5, 0.01])
def test_votes_of_support_vectors_behind_an_error(kernel: str, final: str, error: float) -> None:
    random = Random(f"{kernel}{final}")
    X, classes = features(random), 3 if "three" in final else 2
    pairs = classes * (classes - 1) // 2
    weights = np.array(numbers(random, (classes - 1) * 4 * classes)).reshape(classes - 1, -1)
    vectors = np.array(numbers(random, 4 * classes * WIDTH)).reshape(-1, WIDTH)
    rho = np.array(numbers(random, pairs))
    shares = {"prob_a": ("floats", [-1.5]), "prob_b": ("floats", [0.25])} if "shares" in final else {}
    found = outcomes(
        "SVMClassifier", 1, X, error, **shares, coefficients=("floats", weights.reshape(-1).tolist()),
        rho=("floats", rho.tolist()), support_vectors=("floats", vectors.reshape(-1).tolist()),
        vectors_per_class=("ints", [4] * classes), kernel_type=("string", kernel),
        kernel_params=("floats", [0.5, 0.0, 3.0]), classlabels_strings=("strings", LABELS[:classes]),
    )  # fmt: skip
    assert all(is_bounded(scores).all() for _, scores in found)
    seen = []
    for _ in range(30):
        raw = of_pairs(kernel, moved(random, X, error), weights, vectors, rho)
        scores = raw if classes == 3 else np.concatenate([-raw, raw], axis=1)
        if shares:
            first = 1 / (1 + np.exp(-1.5 * raw + 0.25))
            scores = np.concatenate([first, 1 - first], axis=1)
        seen.append(voted(raw))
        labels, given = texts([LABELS[place] for place in seen[-1]]), tensor(scores.astype(np.float32))
        assert any(is_accepted(one, labels) and is_accepted(other, given) for one, other in found)
        far = tensor((scores + (0.5 if error > 1e-3 else 0.05)).astype(np.float32))
        assert shares or not any(is_accepted(other, far) for _, other in found)
    decided = [row for row in range(ROWS) if all(row not in map_of(one) for one, _ in found)]
    assert len(decided) > ROWS // 2
    assert all(each[row] == seen[0][row] for each in seen for row in decided)
    for row in decided:
        wrong = [LABELS[place] for place in seen[0]]
        wrong[row] = LABELS[(seen[0][row] + 1) % classes]
        assert not any(is_accepted(labels, texts(wrong)) for labels, _ in found)


def map_of(labels: ExpectedOutput) -> set[int]:
    """The rows of which more than one label is right."""
    return {each.index for each in labels.alternatives}


def test_features_of_which_nothing_is_known_decide_nothing() -> None:
    random = Random("unknown")
    X = features(random)
    forest = [grown(random, 2) for _ in range(2)]
    stated = listed(forest, "class", 3) | {"classlabels_strings": ("strings", LABELS)}
    ((labels, scores),) = outcomes("TreeEnsembleClassifier", 3, X, math.inf, **stated)
    for rows in (X, -X, X[::-1]):
        reached = np.array([[leaf(tree, row) for tree in forest] for row in rows]).sum(axis=1)
        assert is_accepted(scores, tensor(reached.astype(np.float32)))
        assert is_accepted(labels, texts([LABELS[place] for place in reached.argmax(axis=1)]))
    weights = numbers(random, 3 * WIDTH)
    ((labels, scores),) = outcomes(
        "LinearClassifier",
        1,
        X,
        math.inf,
        coefficients=("floats", weights),
        classlabels_strings=("strings", LABELS),
    )
    assert all(
        is_accepted(labels, texts([LABELS[(row + shift) % 3] for row in range(ROWS)])) for shift in range(3)
    )
    assert not is_bounded(scores).any()


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_scaled_and_normalized_behind_an_error(norm: str) -> None:
    random = Random(norm)
    X = features(random) + np.float32(3)
    norms: dict[str, Callable[[Array], Array]] = {
        "L1": lambda rows: np.abs(rows).sum(axis=1, keepdims=True),
        "L2": lambda rows: np.sqrt((rows**2).sum(axis=1, keepdims=True)),
    }
    models: tuple[tuple[str, dict[str, tuple[str, Any]], Callable[[Array], Array]], ...] = (
        ("Normalizer", {"norm": ("string", norm)}, lambda rows: rows / norms[norm](rows)),
        (
            "Scaler",
            {"offset": ("floats", [0.5]), "scale": ("floats", [-3.0])},
            lambda rows: (rows - 0.5) * -3.0,
        ),
    )
    for name, given, right in models:
        found = outcomes(name, 1, X, 0.01, **given)
        rows = moved(random, X, 0.01).astype(np.float64)
        assert any(is_accepted(got, tensor(right(rows).astype(np.float32))) for (got,) in found)
        assert not any(is_accepted(got, tensor((right(rows) * 1.2).astype(np.float32))) for (got,) in found)
