"""TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble: what the leaves of trees add up to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.answers.number_answers import answer_of
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import COMPARISONS, Working, bounded_apart
from reference.operators.score_transforms import (
    LabelOf,
    OneScore,
    Probit,
    SoftmaxZero,
    Ties,
    scores_of_two,
    top_labels,
    transformed,
)
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.shared.movement import Accumulation, Subnormals
from reference.shared.single_precision import SINGLE, finite_number, held_floats
from reference.sums.summation import mean_of, total

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "BRANCH_LEQ": operator.le,
    "BRANCH_LT": operator.lt,
    "BRANCH_GTE": operator.ge,
    "BRANCH_GT": operator.gt,
    "BRANCH_EQ": operator.eq,
    "BRANCH_NEQ": operator.ne,
    "BRANCH_MEMBER": lambda given, members: given in members,
}
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
Votes = Sequence[tuple[int, Fraction]]
"""The targets that a leaf votes for, with weights."""


@dataclass(frozen=True)
class Branch:
    """A comparison, and what follows where it holds and where not: other nodes by their places, or leaves."""

    feature: int
    mode: str
    against: Any
    missing: bool
    if_true: int | Votes
    if_false: int | Votes

    def holds(self, given: Any) -> bool:
        """Whether the branch of what is true is followed; of what is missing, as it is told."""
        return self.missing if given != given else COMPARED[self.mode](given, self.against)


def leaf_of(node: int | Votes, row: Sequence[Any], branches: Sequence[Branch]) -> Votes:
    """The leaf that a row comes to."""
    while isinstance(node, int):
        branch = branches[node]
        node = branch.if_true if branch.holds(row[branch.feature]) else branch.if_false
    return node


def scores_of(
    rows: NDArray[Any],
    roots: Sequence[int | Votes],
    branches: Sequence[Branch],
    targets: int,
    base: Sequence[Fraction],
    aggregate: str,
    working: Working,
) -> Numbers:
    """For each row and target what its votes come to, and the base value beside that."""
    if base and len(base) != targets:
        raise OutsideDomain("there is a base value for each target, or none")
    votes: list[list[list[Fraction]]] = []
    for row in rows.astype(object).tolist():
        own: list[list[Fraction]] = [[] for _ in range(targets)]
        for root in roots:
            for target, weight in leaf_of(root, row, branches):
                own[target].append(weight)
        votes.append(own)

    def held(numbers: Any) -> Numbers:
        return Numbers.exact(numbers, working).rounded(1, exact=True)

    bases = held([list(base) or [Fraction(0)] * targets])
    if aggregate in ("MIN", "MAX"):
        if not all(each for own in votes for each in own):
            raise OutsideDomain("a target that no tree votes for has no least or greatest vote")
        choose = min if aggregate == "MIN" else max
        return held(_filled([[[choose(each)] for each in own] for own in votes], targets)[..., 0]) + bases
    if aggregate == "SUM":
        # The base value may be the first of what is added up, or the last.
        with_base = [[[*each, base[at]] if base else each for at, each in enumerate(own)] for own in votes]
        return total(held(_filled(with_base, targets)), -1)
    terms = held(_filled(votes, targets))
    shares = mean_of(total(terms, -1), len(roots))
    return whichever(shares, lambda: total(mean_of(terms, len(roots)), -1)) + bases


def _filled(votes: Sequence[Sequence[Sequence[Fraction]]], targets: int) -> NDArray[Any]:
    """Votes in an array, with zeros where there are fewer than of others."""
    most = max((len(each) for own in votes for each in own), default=0)
    found = np.full((len(votes), targets, max(most, 1)), Fraction(0), dtype=object)
    for row, own in enumerate(votes):
        for target, each in enumerate(own):
            found[row, target, : len(each)] = each
    return found


def exact(given: Sequence[float] | None, double: Tensor | None) -> list[Fraction]:
    """The numbers of an attribute of floats, or of the tensor of doubles in its place."""
    return held_floats(given or ()) if double is None else list(map(finite_number, double.array.flat))


def compared(given: Sequence[float] | None, double: Tensor | None) -> list[float]:
    """The thresholds of an attribute of floats, or of doubles; infinite ones compare as numbers do."""
    listed = np.array(given or (), np.float32) if double is None else double.array.reshape(-1)
    return [float(threshold) for threshold in listed]


def grown(
    nodes: Mapping[str, Any], thresholds: Sequence[float], votes: Mapping[tuple[int, int], Votes]
) -> tuple[list[int | Votes], list[Branch]]:
    """The roots and branches of nodes with an entry each; a tree begins at the first one that is listed."""
    trees, ids, modes = nodes["treeids"], nodes["nodeids"], nodes["modes"]
    place = {key: at for at, key in enumerate(zip(trees, ids, strict=True))}

    def node(tree: int, number: int) -> int | Votes:
        at = place[tree, number]
        return votes.get((tree, number), ()) if modes[at] == "LEAF" else at

    missing = nodes["missing"] or (0,) * len(ids)
    branches = []
    for at, (tree, mode) in enumerate(zip(trees, modes, strict=True)):
        is_leaf = mode == "LEAF"
        true, false = ((), ()) if is_leaf else (node(tree, nodes[side][at]) for side in ("true", "false"))
        threshold = None if is_leaf else thresholds[at]
        branches.append(Branch(nodes["features"][at], mode, threshold, bool(missing[at]), true, false))
    roots = {tree: node(tree, number) for tree, number in reversed(list(zip(trees, ids, strict=True)))}
    return list(roots.values()), branches


def votes_by_leaf(
    trees: Sequence[int], ids: Sequence[int], targets: Sequence[int], weights: Sequence[Fraction]
) -> dict[tuple[int, int], list[tuple[int, Fraction]]]:
    """The votes of each leaf."""
    found: dict[tuple[int, int], list[tuple[int, Fraction]]] = {}
    for tree, number, target, weight in zip(trees, ids, targets, weights, strict=True):
        found.setdefault((tree, number), []).append((target, weight))
    return found


@reference_operator("ai.onnx.ml::TreeEnsembleRegressor")
def tree_regression(
    X: Tensor,
    *,
    aggregate_function: str = "SUM",
    base_values: tuple[float, ...] | None = None,
    base_values_as_tensor: Tensor | None = None,
    n_targets: int = 1,
    nodes_falsenodeids: tuple[int, ...] = (),
    nodes_featureids: tuple[int, ...] = (),
    nodes_hitrates: tuple[float, ...] | None = None,
    nodes_hitrates_as_tensor: Tensor | None = None,
    nodes_missing_value_tracks_true: tuple[int, ...] | None = None,
    nodes_modes: tuple[str, ...] = (),
    nodes_nodeids: tuple[int, ...] = (),
    nodes_treeids: tuple[int, ...] = (),
    nodes_truenodeids: tuple[int, ...] = (),
    nodes_values: tuple[float, ...] | None = None,
    nodes_values_as_tensor: Tensor | None = None,
    post_transform: str = "NONE",
    target_ids: tuple[int, ...] = (),
    target_nodeids: tuple[int, ...] = (),
    target_treeids: tuple[int, ...] = (),
    target_weights: tuple[float, ...] | None = None,
    target_weights_as_tensor: Tensor | None = None,
    softmax_zero: SoftmaxZero,
    probit: Probit,
    subnormals: Subnormals,
) -> Answer:
    """The aggregate of the weights at the leaves, and the base value. Source: TreeEnsembleRegressor."""
    bounded_apart(COMPARISONS)
    nodes = {
        "treeids": nodes_treeids, "nodeids": nodes_nodeids, "modes": nodes_modes,
        "features": nodes_featureids, "missing": nodes_missing_value_tracks_true,
        "true": nodes_truenodeids, "false": nodes_falsenodeids,
    }  # fmt: skip
    weights = exact(target_weights, target_weights_as_tensor)
    votes = votes_by_leaf(target_treeids, target_nodeids, target_ids, weights)
    roots, branches = grown(nodes, compared(nodes_values, nodes_values_as_tensor), votes)
    base = exact(base_values, base_values_as_tensor)
    working = Working(SINGLE, subnormals)
    scores = scores_of(X.array, roots, branches, n_targets, base, aggregate_function, working)
    return answer_of(transformed(scores, post_transform, softmax_zero, probit), Choice("wrap"), SINGLE)


@reference_operator("ai.onnx.ml::TreeEnsembleClassifier")
def tree_classification(
    X: Tensor,
    *,
    base_values: tuple[float, ...] | None = None,
    base_values_as_tensor: Tensor | None = None,
    class_ids: tuple[int, ...] = (),
    class_nodeids: tuple[int, ...] = (),
    class_treeids: tuple[int, ...] = (),
    class_weights: tuple[float, ...] | None = None,
    class_weights_as_tensor: Tensor | None = None,
    classlabels_int64s: tuple[int, ...] | None = None,
    classlabels_strings: tuple[str, ...] | None = None,
    nodes_falsenodeids: tuple[int, ...] = (),
    nodes_featureids: tuple[int, ...] = (),
    nodes_hitrates: tuple[float, ...] | None = None,
    nodes_hitrates_as_tensor: Tensor | None = None,
    nodes_missing_value_tracks_true: tuple[int, ...] | None = None,
    nodes_modes: tuple[str, ...] = (),
    nodes_nodeids: tuple[int, ...] = (),
    nodes_treeids: tuple[int, ...] = (),
    nodes_truenodeids: tuple[int, ...] = (),
    nodes_values: tuple[float, ...] | None = None,
    nodes_values_as_tensor: Tensor | None = None,
    post_transform: str = "NONE",
    softmax_zero: SoftmaxZero,
    probit: Probit,
    label_of: LabelOf,
    ties: Ties,
    one_score: OneScore,
    subnormals: Subnormals,
) -> tuple[Answer, Answer]:
    """The label of the greatest score, and all scores. Source: TreeEnsembleClassifier, Summary, Outputs."""
    bounded_apart(COMPARISONS)
    nodes = {
        "treeids": nodes_treeids, "nodeids": nodes_nodeids, "modes": nodes_modes,
        "features": nodes_featureids, "missing": nodes_missing_value_tracks_true,
        "true": nodes_truenodeids, "false": nodes_falsenodeids,
    }  # fmt: skip
    votes = votes_by_leaf(
        class_treeids, class_nodeids, class_ids, exact(class_weights, class_weights_as_tensor)
    )
    roots, branches = grown(nodes, compared(nodes_values, nodes_values_as_tensor), votes)
    labels = classlabels_strings or classlabels_int64s or ()
    base = exact(base_values, base_values_as_tensor)
    one_alone = len(labels) == 2 and set(class_ids) == {0}
    count = 1 if one_alone else len(labels)
    scores = scores_of(X.array, roots, branches, count, base, "SUM", Working(SINGLE, subnormals))
    if one_alone:
        scores, final = scores_of_two(scores, post_transform, one_score.ask())
    else:
        final = transformed(scores, post_transform, softmax_zero, probit)
    return top_labels(scores, final, labels, label_of, ties), answer_of(final, Choice("wrap"), SINGLE)


@reference_operator("ai.onnx.ml::TreeEnsemble")
def tree_ensemble(
    X: Tensor,
    *,
    aggregate_function: int = 1,
    leaf_targetids: tuple[int, ...],
    leaf_weights: Tensor,
    membership_values: Tensor | None = None,
    n_targets: int = 1,
    nodes_falseleafs: tuple[int, ...],
    nodes_falsenodeids: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_hitrates: Tensor | None = None,
    nodes_missing_value_tracks_true: tuple[int, ...] | None = None,
    nodes_modes: Tensor,
    nodes_splits: Tensor,
    nodes_trueleafs: tuple[int, ...],
    nodes_truenodeids: tuple[int, ...],
    post_transform: int = 0,
    tree_roots: tuple[int, ...],
    softmax_zero: SoftmaxZero,
    probit: Probit,
    subnormals: Subnormals,
    accumulation_type: Accumulation,
) -> Answer:
    """The aggregate of the weights of the leaves for each target. Source: TreeEnsemble, Summary."""
    bounded_apart(COMPARISONS)
    weights = exact(None, leaf_weights)
    leaves = [[each] for each in zip(leaf_targetids, weights, strict=True)]
    sets = _sets(membership_values)
    missing = nodes_missing_value_tracks_true or (0,) * len(nodes_featureids)
    sides = (nodes_truenodeids, nodes_trueleafs), (nodes_falsenodeids, nodes_falseleafs)
    branches = []
    for at, code in enumerate(nodes_modes.array.tolist()):
        mode = tuple(COMPARED)[code]
        against = next(sets, None) if mode == "BRANCH_MEMBER" else float(nodes_splits.array[at])
        if against is None:
            raise OutsideDomain("a node that asks for members has a set, which NaN ends")
        true, false = (leaves[ids[at]] if are_leaves[at] else ids[at] for ids, are_leaves in sides)
        branches.append(Branch(nodes_featureids[at], mode, against, bool(missing[at]), true, false))
    working = Working(X.element_type, subnormals, accumulation_type)
    aggregate = AGGREGATES[aggregate_function]
    scores = scores_of(X.array, tree_roots, branches, n_targets, (), aggregate, working)
    final = transformed(scores, TRANSFORMS[post_transform], softmax_zero, probit)
    return answer_of(final, Choice("wrap"), X.element_type)


def _sets(given: Tensor | None) -> Iterator[frozenset[float]]:
    """The sets that NaN ends."""
    found: list[float] = []
    for each in [] if given is None else given.array.tolist():
        if each == each:
            found.append(float(each))
        else:
            yield frozenset(found)
            found = []
