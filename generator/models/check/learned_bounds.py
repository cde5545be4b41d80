"""Errors of features on their way through models that were learned, to scores, shares and labels.

Linear models and support vectors add up products: the error of a feature grows by its coefficient. Of trees
every leaf counts that a row can come to with features within their errors. What pairs of classes vote for,
and the shares that are made of them, the reference says itself of such features. A label is decided where the
score of one class is greater than all others whatever a right program holds; elsewhere each that may be the
greatest is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Alternative, Expectation, ExpectedOutput
from generator.models.chains.chain_bodies import answers_of_bodies
from generator.models.chains.chains import Link
from generator.models.chains.spreading import with_alternatives
from reference.operators.tree_ensembles import (
    AGGREGATES,
    TRANSFORMS,
    Branch,
    Votes,
    exact,
    grown,
    votes_by_leaf,
)

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
_ROUNDINGS = 8
"""Of a term beside those of its sum: as float, its product, what is added, two of the transform."""
_UNIT = math.ldexp(1, -24)
"""The greatest relative error of rounding to float."""
_SURE = 2.0
"""How many times its bound a score may be off before a label is called decided."""
_SHARE = math.ldexp(1, -20)
"""Shares that lie nearer to each other may be one float in a program."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores before the transform, a row for each example, one for each class or target.

    `further` is by how much errors of features move them, `rounded` what a program's own roundings may come
    to.
    """

    middle: Floats
    further: Floats
    rounded: Floats

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Below and above all that a right program holds, with some to spare."""
        apart = _SURE * (self.further + self.rounded)
        return self.middle - apart, self.middle + apart


def learned_worlds(
    link: Link, taken: Sequence[ExpectedOutput | None], expectations: Sequence[Expectation]
) -> Sequence[tuple[ExpectedOutput, ...]] | None:
    """What a learned model gives for features with errors, once for each expectation of the exact ones.

    None where no rule is known of the operator, or of its transform.
    """
    rule, features = _RULES.get(link.operator.name), taken[0]
    if features is None or link.operator.domain != "ai.onnx.ml":
        return None
    if link.operator.name == "SVMClassifier":
        return _of_votes(link, features, expectations)
    if rule is None:
        return None
    transform = _transform(link)
    numbers = features.expected.array.astype(np.float64)
    with np.errstate(all="ignore"):
        further = with_alternatives(features)
        rows, errors = (each.reshape(-1, each.shape[-1]) for each in (numbers, further))
        scores = rule(link, rows, errors)
        if scores is None or transform == "PROBIT":
            return None
        return [_outputs(link, scores, transform, expectation) for expectation in expectations]


def _of_votes(
    link: Link, features: ExpectedOutput, expectations: Sequence[Expectation]
) -> Sequence[tuple[ExpectedOutput, ...]] | None:
    """What the reference gives for features with errors, with what programs round besides once more."""
    further = with_alternatives(features)
    if not np.isfinite(further).all():
        return None
    vague = replace(features, allowed=_SURE * further, alternatives=())
    rounded = np.max([with_alternatives(exact.outputs[-1]) for exact in expectations], axis=0)
    found = []
    for expectation in answers_of_bodies(link, {link.inputs[0]: vague}):
        labels, scores = expectation.outputs
        allowed = np.nextafter(with_alternatives(scores) + rounded, np.inf)
        found.append((labels, replace(scores, allowed=allowed, alternatives=())))
    return found


def _outputs(
    link: Link, scores: Scores, transform: str, expectation: Expectation
) -> tuple[ExpectedOutput, ...]:
    *labels, numbers = expectation.outputs
    further = _transformed(scores, transform, numbers.expected.array.astype(np.float64))
    allowed = _SURE * (further + with_alternatives(numbers))
    allowed = np.where(np.isnan(allowed), np.inf, allowed)
    found = replace(numbers, allowed=np.nextafter(allowed, np.inf), alternatives=())
    if not labels:
        return (found,)
    raw = [scores] if scores.middle.shape[1] > 1 else _of_two(scores, expectation)
    return _labelled(link, labels[0], [_likely(each, transform) for each in raw]), found


def _given(link: Link, name: str) -> Any:
    attribute = link.attributes.get(name)
    return None if attribute is None else attribute.value


def _floats(link: Link, name: str) -> Floats | None:
    """An attribute of floats as they are held."""
    value = _given(link, name)
    return None if value is None else np.array(value, np.float32).astype(np.float64)


def _transform(link: Link) -> str:
    said = _given(link, "post_transform")
    return TRANSFORMS[said] if isinstance(said, int) else str(said or "NONE")


def _transformed(scores: Scores, transform: str, numbers: Floats) -> Floats:
    """How far errors of scores take what the transform makes of them."""
    further = scores.further
    if transform == "NONE":
        return np.broadcast_to(further, numbers.shape)
    if transform == "LOGISTIC":
        return np.broadcast_to(np.asarray(further / 4), numbers.shape)
    most = 2 * further.max(axis=-1, keepdims=True)
    moved = np.abs(numbers) * np.expm1(most)  # may differ: a bound with room
    if transform == "SOFTMAX_ZERO":
        low, high = scores.ends
        moved = np.where(((low <= 0) & (high >= 0)).any(axis=-1, keepdims=True), np.inf, moved)
    return np.asarray(moved)


def _of_two(score: Scores, expectation: Expectation) -> Iterator[Scores]:
    """One score of two classes as both, in each way that leads to the expectation."""
    said = {**expectation.readings, **expectation.behaviours}.get("one_score")
    for reading in said or ("complement", "opposite", "first_alone"):
        zero = np.zeros_like(score.middle)
        pairs = {
            "complement": (1 - score.middle, score.middle),
            "opposite": (-score.middle, score.middle),
            "first_alone": (score.middle, zero),
        }
        both = [np.concatenate([one, one], axis=1) for one in (score.further, score.rounded)]
        yield Scores(np.concatenate(pairs[reading], axis=1), *both)


def _likely(scores: Scores, transform: str) -> NDArray[np.bool_]:
    """Which scores may be the greatest of their row, before the transform or behind it."""
    low, high = scores.ends
    lead = low.max(axis=-1, keepdims=True)
    found = np.asarray(~(high < lead))
    if transform == "LOGISTIC":
        found |= _share(high) + _SHARE >= _share(lead)
    elif transform != "NONE":
        found |= -np.expm1(high - lead) <= _SHARE * scores.middle.shape[1]  # may differ: a bound with room
        found |= ((low <= 0) & (high >= 0)).any(axis=-1, keepdims=True) & (transform == "SOFTMAX_ZERO")
    return np.asarray(found)


def _share(numbers: Floats) -> Floats:
    return 1 / (1 + np.exp(-numbers))  # may differ: a bound with room


def _labelled(link: Link, output: ExpectedOutput, likely: Sequence[NDArray[np.bool_]]) -> ExpectedOutput:
    """The labels, with those that are as good."""
    names = (_given(link, f"classlabels_{kind}") for kind in ("strings", "ints", "int64s"))
    labels = next((found for found in names if found), ())
    stored = [label.encode() if isinstance(label, str) else label for label in labels]
    accepted = {each.index: {*each.values} for each in output.alternatives}
    expected = output.expected.array.reshape(-1).tolist()
    for row, first in enumerate(expected):
        others = {stored[place] for found in likely for place in np.flatnonzero(found[row]).tolist()}
        accepted[row] = (accepted.get(row, set()) | others) - {first}
    alternatives = (Alternative(row, tuple(sorted(others))) for row, others in accepted.items() if others)
    return replace(output, alternatives=tuple(alternatives))


def _sum(rows: Floats, errors: Floats, weights: Floats, added: Floats | float) -> Scores:
    """A sum of products for each row of weights."""
    middle, further = rows @ weights.T + added, errors @ np.abs(weights).T  # may differ: a bound with room
    unit = (rows.shape[1] + _ROUNDINGS) * _UNIT
    sizes = np.abs(rows) @ np.abs(weights).T + np.abs(added)  # may differ: a bound with room
    return Scores(middle, further * (1 + unit), sizes * unit)


def _linear(link: Link, rows: Floats, errors: Floats) -> Scores | None:
    weights, added = _floats(link, "coefficients"), _floats(link, "intercepts")
    if weights is None:
        return None
    return _sum(rows, errors, weights.reshape(-1, rows.shape[1]), 0.0 if added is None else added)


def _support_vectors(link: Link, rows: Floats, errors: Floats) -> Scores | None:
    """The sum of kernels, each of which moves by its slope at most."""
    weights, vectors, rho = (_floats(link, name) for name in ("coefficients", "support_vectors", "rho"))
    params = _floats(link, "kernel_params")
    if weights is None or vectors is None or rho is None or _given(link, "one_class"):
        return None
    vectors = vectors.reshape(-1, rows.shape[1])
    kernel = str(_given(link, "kernel_type") or "LINEAR")
    inner = _sum(rows, errors, vectors, 0.0)
    found = inner
    if kernel != "LINEAR":
        if params is None:
            return None
        found = _kernel(kernel, inner, rows, errors, vectors, params)
    total = np.abs(weights)[:, np.newaxis]
    sizes = (np.abs(found.middle) + found.further) @ total + np.abs(rho)  # may differ: a bound with room
    unit = (len(weights) + _ROUNDINGS) * _UNIT
    return Scores(
        found.middle @ weights[:, np.newaxis] + rho,  # may differ: a bound with room
        found.further @ total + sizes * unit,  # may differ: a bound with room
        found.rounded @ total + sizes * unit,  # may differ: a bound with room
    )


def _kernel(
    kernel: str, inner: Scores, rows: Floats, errors: Floats, vectors: Floats, params: Floats
) -> Scores:
    gamma, coef0, degree = params
    if kernel == "RBF":
        across = rows[:, np.newaxis, :] - vectors[np.newaxis]
        apart = (across * across).sum(axis=-1)  # may differ: a bound with room
        # exp(-gamma d^2) is nowhere steeper than sqrt(2 gamma / e), and no kernel is above 1.
        slope = math.sqrt(2 * abs(gamma) / math.e)  # may differ: a bound with room
        moved = slope * np.sqrt((errors**2).sum(axis=-1, keepdims=True))  # may differ: a bound with room
        unit = (rows.shape[1] + _ROUNDINGS) * _UNIT
        middle = np.exp(-gamma * apart)  # may differ: a bound with room
        return Scores(middle, np.broadcast_to(moved, middle.shape), unit * (1 + gamma * apart) * middle)
    linear = gamma * inner.middle + coef0
    further, rounded = abs(gamma) * inner.further, abs(gamma) * inner.rounded
    rounded = rounded + _ROUNDINGS * _UNIT * np.abs(linear)
    if kernel == "SIGMOID":
        return Scores(np.tanh(linear), further, rounded)  # may differ: a bound with room
    steepest = degree * (np.abs(linear) + further + rounded) ** (degree - 1)  # may differ: a bound with room
    return Scores(linear**degree, steepest * further, steepest * rounded)  # may differ: a bound with room


@dataclass(frozen=True)
class _Forest:
    roots: Sequence[int | Votes]
    branches: Sequence[Branch]
    targets: int
    base: Sequence[float]
    aggregate: str


def _listed(link: Link) -> _Forest | None:
    """The trees of the operators that list each node's entries; None where they are not whole."""
    kind = "class" if link.operator.name == "TreeEnsembleClassifier" else "target"
    nodes = {
        short: _given(link, f"nodes_{long}") or ()
        for short, long in (
            ("treeids", "treeids"), ("nodeids", "nodeids"), ("modes", "modes"), ("features", "featureids"),
            ("missing", "missing_value_tracks_true"), ("true", "truenodeids"), ("false", "falsenodeids"),
        )
    }  # fmt: skip

    def numbers(name: str) -> Any:
        return exact(_given(link, name), _given(link, f"{name}_as_tensor"))

    ids = _given(link, f"{kind}_ids") or ()
    listed = (_given(link, f"{kind}_treeids") or (), _given(link, f"{kind}_nodeids") or ())
    votes = votes_by_leaf(*listed, ids, numbers(f"{kind}_weights"))
    roots, branches = grown(nodes, numbers("nodes_values"), votes)
    targets = _given(link, "n_targets") or 1
    if kind == "class":
        classes = len(_given(link, "classlabels_strings") or _given(link, "classlabels_int64s") or ())
        targets = 1 if classes == 2 and set(ids) == {0} else classes
    base = [float(number) for number in numbers("base_values")]
    return _Forest(roots, branches, targets, base, str(_given(link, "aggregate_function") or "SUM"))


def _trees(link: Link, rows: Floats, errors: Floats) -> Scores | None:
    """What the leaves add up to that each row can come to."""
    forest = _listed(link)
    if forest is None or forest.aggregate not in AGGREGATES[:2]:
        return None
    low = np.zeros((len(rows), forest.targets))
    high, middle, sizes = low.copy(), low.copy(), low.copy()
    for root in forest.roots:
        least, most = _reached(forest, root, rows, errors)
        at_exact, _ = _reached(forest, root, rows, np.zeros_like(errors))
        low, high, middle = low + least, high + most, middle + at_exact
        sizes = sizes + np.maximum(np.abs(least), np.abs(most))
    base = np.array(forest.base) if forest.base else np.zeros(1)
    unit = (len(forest.roots) + _ROUNDINGS) * _UNIT
    rounded = unit * (sizes + np.abs(base))
    further = np.maximum(high - middle, middle - low)
    share = len(forest.roots) if forest.aggregate == "AVERAGE" else 1
    # Rows of which every program comes to the same leaves have the error of the exact features.
    further = np.where(further > 0, further + rounded, 0.0)
    return Scores(middle / share + base, further / share, rounded)


def _reached(forest: _Forest, root: int | Votes, rows: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """The least and the greatest vote of a tree for each target, over the leaves that a row can come to."""
    least = np.full((len(rows), forest.targets), np.inf)
    most = -least
    waiting: list[tuple[int | Votes, Rows]] = [(root, np.arange(len(rows)))]
    while waiting:
        node, places = waiting.pop()
        if not len(places):
            continue
        if isinstance(node, int):
            branch = forest.branches[node]
            true, false = _sides(branch, rows[places, branch.feature], errors[places, branch.feature])
            waiting += [(branch.if_true, places[true]), (branch.if_false, places[false])]
            continue
        votes = np.zeros(forest.targets)
        for target, weight in node:
            votes[target] += float(weight)
        least[places] = np.minimum(least[places], votes)
        most[places] = np.maximum(most[places], votes)
    return least, most


def _sides(branch: Branch, numbers: Floats, errors: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """In which rows a program may follow the branch of what is true, and in which the other one."""
    vague = errors > 0
    low = np.where(vague, np.nextafter(numbers - errors, -np.inf), numbers)
    high = np.where(vague, np.nextafter(numbers + errors, np.inf), numbers)
    against = branch.against
    equal, sure = (low <= against) & (against <= high), ~vague & (numbers == against)
    true, false = {
        "BRANCH_LEQ": (low <= against, high > against),
        "BRANCH_LT": (low < against, high >= against),
        "BRANCH_GTE": (high >= against, low < against),
        "BRANCH_GT": (high > against, low <= against),
        "BRANCH_EQ": (equal, ~sure),
        "BRANCH_NEQ": (~sure, equal),
    }[branch.mode]
    missing, unknown = np.isnan(numbers), ~np.isfinite(errors)
    true = np.where(missing, branch.missing, true) | unknown
    false = np.where(missing, not branch.missing, false) | unknown
    return true, false


_RULES: Mapping[str, Callable[[Link, Floats, Floats], Scores | None]] = {
    "LinearClassifier": _linear,
    "LinearRegressor": _linear,
    "SVMRegressor": _support_vectors,
    "TreeEnsembleClassifier": _trees,
    "TreeEnsembleRegressor": _trees,
}
