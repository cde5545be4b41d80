"""Trees beside nested tuples that are walked down by recursion, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.tensors import tensor
from reference.answers import OutsideDomain
from tests.reference.learned_models import answers, listed
from tests.reference.test_number_arrays import accepted

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
THRESHOLDS = (0.5, -1.25, 2.0, float(np.float32(0.1)))
Tree = tuple[Any, ...]
"""Either ("leaf", votes), or (mode, feature, threshold, members, missing, true, false)."""


def grown(random: Random, depth: int, targets: int, modes: Sequence[str], tracked: bool) -> Tree:
    if depth == 0 or random.random() < 0.1:
        chosen = random.sample(range(targets), random.randint(1, targets))
        return ("leaf", [(each, random.randint(-16, 16) / 8) for each in chosen])
    missing = tracked and random.random() < 0.5
    members = random.sample(THRESHOLDS, 2)
    sides = [grown(random, depth - 1, targets, modes, tracked) for _ in range(2)]
    return (random.choice(modes), random.randint(0, 2), random.choice(THRESHOLDS), members, missing, *sides)


def votes_for(tree: Tree, row: Sequence[float]) -> list[tuple[int, float]]:
    if tree[0] == "leaf":
        votes: list[tuple[int, float]] = tree[1]
        return votes
    mode, feature, threshold, members, missing, true, false = tree
    given = row[feature]
    outcome = {
        "LEQ": given < threshold or given == threshold,
        "LT": given < threshold,
        "GTE": given > threshold or given == threshold,
        "GT": given > threshold,
        "EQ": given == threshold,
        "NEQ": given < threshold or given > threshold,
        "MEMBER": any(given == each for each in members),
    }[mode]
    if math.isnan(given):
        outcome = missing
    return votes_for(true if outcome else false, row)


def as_lists(trees: Sequence[Tree], votes: str) -> dict[str, Any]:
    nodes: dict[str, list[Any]] = {}
    ballots: dict[str, list[Any]] = {}

    def add(number: int, tree: Tree, ids: list[int]) -> int:
        own = len(ids)
        ids.append(own)
        row = {"treeids": number, "nodeids": own, "featureids": 0, "modes": "LEAF", "values": 0.0,
               "truenodeids": 0, "falsenodeids": 0, "missing_value_tracks_true": 0}  # fmt: skip
        for key, value in row.items():
            nodes.setdefault(key, []).append(value)
        at = len(nodes["modes"]) - 1
        if tree[0] == "leaf":
            for target, weight in tree[1]:
                for key, value in (
                    ("treeids", number),
                    ("nodeids", own),
                    ("ids", target),
                    ("weights", weight),
                ):
                    ballots.setdefault(key, []).append(value)
            return own
        false, true = add(number, tree[6], ids), add(number, tree[5], ids)
        for key, value in (("featureids", tree[1]), ("modes", f"BRANCH_{tree[0]}"), ("values", tree[2]),
                           ("truenodeids", true), ("falsenodeids", false),
                           ("missing_value_tracks_true", int(tree[4]))):  # fmt: skip
            nodes[key][at] = value
        return own

    for number, tree in enumerate(trees):
        add(number, tree, [])
    return {
        **{f"nodes_{key}": tuple(values) for key, values in nodes.items()},
        **{f"{votes}_{key}": tuple(values) for key, values in ballots.items()},
    }


def rows_of(random: Random, kind: type) -> np.ndarray[Any, Any]:
    pool: list[float] = [*THRESHOLDS, 0.0, 7.0, 0.1] if kind != np.int64 else [0, 1, 2, -1]
    if kind != np.int64:
        pool.append(math.nan)
    return np.array([[random.choice(pool) for _ in range(3)] for _ in range(5)], kind)


AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "SUM": sum, "MIN": min, "MAX": max, "AVERAGE": lambda votes: sum(votes) / 4,
}  # fmt: skip


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_regression_is_what_the_leaves_come_to(kind: type, aggregate: str) -> None:
    random = Random(f"{kind}{aggregate}")
    for depth in (0, 1, 3):
        targets = 1 if aggregate in ("MIN", "MAX") else 2
        trees = [grown(random, depth, targets, MODES[:-1], tracked=depth == 3) for _ in range(4)]
        X, base = rows_of(random, kind), [random.randint(-4, 4) / 4 for _ in range(targets)]
        given = as_lists(trees, "target") | {"n_targets": targets, "aggregate_function": aggregate}
        (got,) = answers("TreeEnsembleRegressor", 3, {"X": tensor(X)}, base_values=tuple(base), **given)
        for row, found in zip(X.tolist(), got.expected.array.tolist(), strict=True):
            votes = [vote for tree in trees for vote in votes_for(tree, row)]
            of_targets = [[weight for each, weight in votes if each == target] for target in range(targets)]
            assert found == [
                AGGREGATES[aggregate](each) + b for each, b in zip(of_targets, base, strict=True)
            ]
        assert got.expected.element_type.name == "float"
        assert got.allowed is None or not got.allowed.any()


@pytest.mark.parametrize("version", [1, 3, 5])
@pytest.mark.parametrize("strings", [False, True])
def test_the_label_is_that_of_the_greatest_score(version: int, strings: bool) -> None:
    random = Random(f"{version}{strings}")
    labels: tuple[Any, ...] = ("x", "", "z") if strings else (5, -3, 2**40)
    for _ in range(6):
        trees = [grown(random, 2, 3, MODES[:-1], tracked=True) for _ in range(3)]
        X = rows_of(random, np.float32)
        given = as_lists(trees, "class")
        given["classlabels_strings" if strings else "classlabels_int64s"] = labels
        label, scores = answers("TreeEnsembleClassifier", version, {"X": tensor(X)}, **given)
        for row, chosen, found in zip(X.tolist(), listed(label.expected), scores.expected.array, strict=True):
            expected = [0.0, 0.0, 0.0]
            for tree in trees:
                for target, weight in votes_for(tree, row):
                    expected[target] += weight
            assert found.tolist() == expected
            assert chosen == labels[expected.index(max(expected))]


@pytest.mark.parametrize(("threshold", "sides"), [(math.inf, [1, 1, 1, 2]), (-math.inf, [2, 2, 1, 2])])
def test_a_threshold_may_be_infinite(threshold: float, sides: list[int]) -> None:
    X = np.array([[0.0], [math.inf], [-math.inf], [math.nan]], np.float32)
    found = split_at(X, threshold, [1.0, 2.0])
    assert found.tolist() == sides
    with pytest.raises(OutsideDomain, match="finite"):
        split_at(X, threshold, [math.inf, 2.0])


def split_at(X: Any, threshold: float, weights: list[float]) -> Any:
    """What a tree of one branch gives, whose leaves have these weights: the first for what is at most."""
    nodes: dict[str, Any] = {
        "nodes_treeids": (0, 0, 0),
        "nodes_nodeids": (0, 1, 2),
        "nodes_modes": ("BRANCH_LEQ", "LEAF", "LEAF"),
        "nodes_featureids": (0, 0, 0),
        "nodes_truenodeids": (1, 0, 0),
        "nodes_falsenodeids": (2, 0, 0),
        "nodes_values": (threshold, 0.0, 0.0),
    }
    leaves: dict[str, Any] = {"target_treeids": (0, 0), "target_nodeids": (1, 2), "target_ids": (0, 0)}
    (found,) = answers(
        "TreeEnsembleRegressor", 3, {"X": tensor(X)}, target_weights=tuple(weights), **nodes, **leaves
    )
    return found.expected.array[:, 0]


def transformed(scores: list[float], transform: str) -> list[float]:
    if transform == "LOGISTIC":
        return [1 / (1 + math.exp(-each)) for each in scores]
    if transform == "PROBIT":
        log = [math.log(4 * each * (1 - each)) for each in scores]
        first = [2 / (math.pi * 0.147) + each / 2 for each in log]
        roots = [math.sqrt(math.sqrt(a * a - b / 0.147) - a) for a, b in zip(first, log, strict=True)]
        return [math.copysign(math.sqrt(2) * r, s - 0.5) for r, s in zip(roots, scores, strict=True)]
    kept = [each != 0 or transform == "SOFTMAX" for each in scores]
    powers = [math.exp(each) if keep else 0.0 for each, keep in zip(scores, kept, strict=True)]
    return [each / sum(powers) for each in powers]


@pytest.mark.parametrize("transform", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])
def test_scores_are_transformed(transform: str) -> None:
    for scores in ([0.25, 0.75, 0.625], [0.25, 0.0, 0.5], [-2.0, 1.0, 0.5]):
        if transform == "PROBIT" and not all(0 < each < 1 for each in scores):
            continue
        trees: list[Tree] = [("leaf", list(enumerate(scores)))]
        given = as_lists(trees, "target") | {"n_targets": 3, "post_transform": transform}
        X = tensor(np.zeros((1, 1), np.float32))
        (got,) = answers("TreeEnsembleRegressor", 3, {"X": X}, **given)
        expected = np.array([transformed(scores, transform)], np.float32)
        assert accepted(got, expected).all()
        assert not accepted(got, expected * np.float32(1.001))[expected != 0].any()


@pytest.mark.parametrize("share", [0.125, 0.5, 0.9375])
def test_a_probit_may_be_the_quantile_itself(share: float) -> None:
    from statistics import NormalDist

    given = as_lists([("leaf", [(0, share)])], "target") | {"n_targets": 1, "post_transform": "PROBIT"}
    X = tensor(np.zeros((1, 1), np.float32))
    (got,) = answers("TreeEnsembleRegressor", 3, {"X": X}, {"probit": "quantile"}, **given)
    assert accepted(got, np.array([[NormalDist().inv_cdf(share)]], np.float32)).all()


@pytest.mark.parametrize("probit", ["approximation", "quantile"])
def test_a_probit_of_what_is_no_share_is_nan_and_infinite_at_its_ends(probit: str) -> None:
    """As scipy.special.ndtri and ONNX Runtime have it; ONNX's own evaluator gives 0 at the ends."""
    scores = [-0.5, 1.5, 0.0, 1.0, 0.5]
    stated = as_lists([("leaf", list(enumerate(scores)))], "target")
    X = tensor(np.zeros((1, 1), np.float32))
    (got,) = answers(
        "TreeEnsembleRegressor",
        3,
        {"X": X},
        {"probit": probit},
        **stated,
        n_targets=5,
        post_transform="PROBIT",
    )
    for honest in ([math.nan, math.nan, -math.inf, math.inf, 0.0], [math.nan, math.nan, 0.0, 0.0, 0.0]):
        assert accepted(got, np.array([honest], np.float32)).all()
    for wrong in ([0.0] * 5, [1.0, -1.0, math.nan, math.nan, 0.01], [math.inf] * 5):
        assert not accepted(got, np.array([wrong], np.float32))[0, :2].any()
    assert not accepted(got, np.array([[0.0, 0.0, math.inf, -math.inf, 0.0]], np.float32))[0, 2:4].any()


@pytest.mark.parametrize(("share", "takes_all"), [(-1e-10, True), (-1e-6, False)])
def test_a_probit_of_hardly_less_than_0_is_that_of_less_or_of_0(share: float, takes_all: bool) -> None:
    """ONNX Runtime's 2 p - 1 is -1 in float for -1e-10, as for 0, and it answers -inf."""
    stated = as_lists([("leaf", [(0, share)])], "target") | {"n_targets": 1, "post_transform": "PROBIT"}
    X = tensor(np.zeros((1, 1), np.float32))
    (got,) = answers("TreeEnsembleRegressor", 3, {"X": X}, {"probit": "approximation"}, **stated)
    assert got.allowed is not None
    assert bool(np.isinf(got.allowed).all()) == takes_all
    if not takes_all:
        assert accepted(got, np.array([[math.nan]], np.float32)).all()
        assert not accepted(got, np.array([[-math.inf]], np.float32)).any()


def test_equal_scores_are_a_reading_and_close_ones_none() -> None:
    X = tensor(np.zeros((1, 1), np.float32))
    for weights, reading, label in (
        ([0.5, 0.5, 0.25], "first", 4),
        ([0.5, 0.5, 0.25], "last", 5),
        ([0.5, 0.50000006, 0.25], "first", 5),
    ):
        given = as_lists([("leaf", list(enumerate(weights)))], "class")
        (got, _) = answers(
            "TreeEnsembleClassifier", 3, {"X": X}, {"ties": reading}, classlabels_int64s=(4, 5, 6), **given
        )
        assert (listed(got.expected), got.alternatives) == ([label], None)


def as_branches(trees: Sequence[Tree], kind: type) -> dict[str, Any]:
    branches: dict[str, list[Any]] = {key: [] for key in ("modes", "splits", "featureids", "missing")}
    sides: dict[str, list[int]] = {
        f"{side}{what}": [] for side in ("true", "false") for what in ("ids", "leafs")
    }
    leaves: list[tuple[int, float]] = []
    members: dict[int, list[float]] = {}

    def add(tree: Tree) -> tuple[int, int]:
        if tree[0] == "leaf":
            leaves.append(tree[1][0])
            return len(leaves) - 1, 1
        own = len(branches["modes"])
        for key, value in (("modes", MODES.index(tree[0])), ("featureids", tree[1]), ("splits", tree[2]),
                           ("missing", int(tree[4]))):  # fmt: skip
            branches[key].append(value)
        for values in sides.values():
            values.append(0)
        if tree[0] == "MEMBER":
            members[own] = [*tree[3], math.nan]
        for side, other in (("true", tree[5]), ("false", tree[6])):
            sides[f"{side}ids"][own], sides[f"{side}leafs"][own] = add(other)
        return own, 0

    roots = []
    for tree in trees:
        whole = ("LEQ", 0, 0.0, [], False, tree, tree) if tree[0] == "leaf" else tree
        roots.append(add(whole)[0])
    sets = [each for at in sorted(members) for each in members[at]]
    return {
        "tree_roots": tuple(roots),
        "nodes_modes": tensor(np.array(branches["modes"], np.uint8)),
        "nodes_splits": tensor(np.array(branches["splits"], kind)),
        "nodes_featureids": tuple(branches["featureids"]),
        "nodes_missing_value_tracks_true": tuple(branches["missing"]),
        "nodes_truenodeids": tuple(sides["trueids"]),
        "nodes_falsenodeids": tuple(sides["falseids"]),
        "nodes_trueleafs": tuple(sides["trueleafs"]),
        "nodes_falseleafs": tuple(sides["falseleafs"]),
        "leaf_targetids": tuple(target for target, _ in leaves),
        "leaf_weights": tensor(np.array([weight for _, weight in leaves], kind)),
        "membership_values": tensor(np.array(sets, kind)) if sets else None,
    }


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_branches_and_leaves_in_lists_of_their_own(kind: type, aggregate: str) -> None:
    random = Random(f"{kind}{aggregate}")
    for depth in (0, 1, 3):
        trees = [grown(random, depth, 1, MODES, tracked=True) for _ in range(4)]
        X = rows_of(random, kind)
        given = as_branches(trees, kind) | {"n_targets": 1}
        place = ("AVERAGE", "SUM", "MIN", "MAX").index(aggregate)
        (got,) = answers("TreeEnsemble", 5, {"X": tensor(X)}, aggregate_function=place, **given)
        held = [float(kind(each)) for each in THRESHOLDS]
        rounded = dict(zip(THRESHOLDS, held, strict=True))
        for row, found in zip(X.tolist(), got.expected.array.tolist(), strict=True):
            plain = [next((each for each, own in rounded.items() if own == value), value) for value in row]
            votes = [weight for tree in trees for _, weight in votes_for(tree, plain)]
            assert found == [AGGREGATES[aggregate](votes)]


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("base", [None, 0.75])
def test_votes_for_the_first_of_two_classes_are_one_score_of_both(transform: str, base: float | None) -> None:
    random = Random(f"{transform}{base}")
    labels = ("no", "yes")
    for _ in range(4):
        trees = [grown(random, 2, 1, MODES[:-1], tracked=True) for _ in range(3)]
        X = rows_of(random, np.float32)
        given = as_lists(trees, "class") | {"classlabels_strings": labels, "post_transform": transform}
        given["base_values"] = None if base is None else (base,)
        votes = [[vote for tree in trees for _, vote in votes_for(tree, row)] for row in X.tolist()]
        sums = [(base or 0.0) + sum(own) for own in votes]
        for reading, rows in (
            ("complement", [[1 - s, s] for s in sums]),
            ("opposite", [[-s, s] for s in sums]),
            ("first_alone", [[s, 0.0] for s in sums]),
        ):
            label, scores = answers(
                "TreeEnsembleClassifier", 3, {"X": tensor(X)}, {"one_score": reading}, **given
            )
            expected = rows
            if transform == "LOGISTIC":
                shares = [1 / (1 + math.exp(-s)) for s in sums]
                expected = [
                    [share, 0.5] if reading == "first_alone" else [1 - share, share] for share in shares
                ]
            assert accepted(scores, np.array(expected, np.float32)).all()
            wrong = np.array(expected, np.float32)[:, ::-1] + np.float32(0.01)
            assert not accepted(scores, wrong).all()
            assert listed(label.expected) == [labels[row[1] > row[0]] for row in rows]
