"""Decision trees grown at random, and as the attributes in which operators have them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor, tensor
from reference.numbers.numbers import encode

MODES = (
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "BRANCH_MEMBER",
)
WEIGHTS = ("signed", "shares", "far")
"""Votes of both signs; above 0, which add up to less than 1; and great ones, of one sign for each target."""
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_THRESHOLDS = (0.5, -1.25, 2.0, 0.0, 3.3, 0.1, -0.75, 2.5, 1.0)
_SIXTEENTHS = 16


def thresholds_of(kind: ElementType) -> list[float]:
    """What features are compared with: floats, which are not all of the input's type."""
    single = [float(np.float32(each)) for each in _THRESHOLDS]
    return [float(np.float16(each)) for each in _THRESHOLDS] if kind.name == "float16" else single


@dataclass(frozen=True)
class Plan:
    """What trees are to be like."""

    trees: int
    depth: int
    features: int
    modes: Sequence[str]
    thresholds: Sequence[float]
    tracks: str
    weights: str


@dataclass
class Node:
    """A branch with what follows, or a leaf with its votes."""

    mode: str = "LEAF"
    feature: int = 0
    threshold: float = 0.0
    missing: int = 0
    members: list[float] = field(default_factory=list)
    following: tuple[Node, Node] | None = None
    votes: list[tuple[int, float]] = field(default_factory=list)

    def listed(self) -> Iterator[Node]:
        """The node, then what follows it."""
        yield self
        for node in self.following or ():
            yield from node.listed()


def grow(
    plan: Plan, targets: int, draw: Draw, *, each_target: bool = False, one_target: bool = False
) -> list[Node]:
    """Trees whose leaves vote for a target, for several, for `each_target`, or all for the tree's own one."""

    def leaf(tree: int) -> Node:
        chosen = [tree % targets] if one_target else list(range(targets))
        if not each_target and not one_target and targets > 1:
            chosen = draw.shuffled(chosen)[: draw.integer(1, targets)]
        share = math.ldexp(1.0, -(plan.trees - 1).bit_length()) / _SIXTEENTHS
        if plan.weights == "shares":
            weights = [share * draw.integer(1, _SIXTEENTHS - 1) for _ in chosen]
        elif plan.weights == "far":
            weights = [(2 * (target % 2) - 1) * share * draw.integer(320, 448) for target in chosen]
        else:
            weights = [draw.integer(-16, 16) / 8 for _ in chosen]
        return Node(votes=list(zip(chosen, weights, strict=True)))

    def branch(tree: int, depth: int) -> Node:
        # Beside the longest way down others are shorter.
        if depth == 0:
            return leaf(tree)
        sides = (branch(tree, depth - 1), branch(tree, depth - 1 if draw.integer(0, 2) else 0))
        tracked = plan.tracks == "true" or (plan.tracks == "mixed" and draw.integer(0, 1) == 1)
        return Node(
            draw.choice(plan.modes),
            draw.integer(0, plan.features - 1),
            draw.choice(plan.thresholds),
            int(tracked),
            draw.shuffled(plan.thresholds)[: draw.integer(1, 3)],
            sides if draw.integer(0, 1) else sides[::-1],
        )

    return [branch(tree, plan.depth) for tree in range(plan.trees)]


def as_listed_nodes(trees: Sequence[Node], votes: str, *, with_tracks: bool) -> dict[str, Any]:
    """Lists with an entry for each node and for each vote, whose names begin with `votes`."""
    found: dict[str, list[Any]] = {
        **{f"nodes_{each}": [] for each in ("treeids", "nodeids", "featureids", "modes", "values")},
        **{f"nodes_{each}": [] for each in ("truenodeids", "falsenodeids", "missing_value_tracks_true")},
        **{f"{votes}_{each}": [] for each in ("treeids", "nodeids", "ids", "weights")},
    }
    for tree, root in enumerate(trees):
        nodes = list(root.listed())
        places = {id(node): place for place, node in enumerate(nodes)}
        for place, node in enumerate(nodes):
            true, false = (0, 0) if node.following is None else (places[id(each)] for each in node.following)
            row = {
                "treeids": tree, "nodeids": place, "featureids": node.feature, "modes": node.mode,
                "values": node.threshold, "truenodeids": true, "falsenodeids": false,
                "missing_value_tracks_true": node.missing,
            }  # fmt: skip
            for name, value in row.items():
                found[f"nodes_{name}"].append(value)
            for target, weight in node.votes:
                vote = {"treeids": tree, "nodeids": place, "ids": target, "weights": weight}
                for name, value in vote.items():
                    found[f"{votes}_{name}"].append(value)
    if not with_tracks:
        del found["nodes_missing_value_tracks_true"]
    return dict(found)


def as_nodes_and_leaves(trees: Sequence[Node], kind: ElementType, *, with_tracks: bool) -> dict[str, Any]:
    """Branches in lists and tensors of their own, leaves in others; a tree of a leaf has a branch to it."""
    roots = [root if root.following else _over(root) for root in trees]
    branches = [node for root in roots for node in root.listed() if node.following]
    leaves: list[Node] = []
    for node in (each for root in roots for each in root.listed() if not each.following):
        if not any(node is leaf for leaf in leaves):
            leaves.append(node)
    places = {id(node): place for listed in (branches, leaves) for place, node in enumerate(listed)}
    sides: dict[str, list[int]] = {
        f"nodes_{side}{what}": [] for side in ("true", "false") for what in ("nodeids", "leafs")
    }
    for node in branches:
        for side, other in zip(("true", "false"), node.following or (), strict=True):
            sides[f"nodes_{side}nodeids"].append(places[id(other)])
            sides[f"nodes_{side}leafs"].append(int(other.following is None))
    sets = [each for node in branches if node.mode == MODES[-1] for each in (*node.members, math.nan)]
    votes = [leaf.votes[0] for leaf in leaves]
    found: dict[str, Any] = {
        **sides,
        "tree_roots": [places[id(root)] for root in roots],
        "nodes_featureids": [node.feature for node in branches],
        "nodes_modes": tensor(np.array([MODES.index(node.mode) for node in branches], np.uint8)),
        "nodes_splits": _of_type([node.threshold for node in branches], kind),
        "leaf_targetids": [target for target, _ in votes],
        "leaf_weights": _of_type([weight for _, weight in votes], kind),
    }
    if with_tracks:
        found["nodes_missing_value_tracks_true"] = [node.missing for node in branches]
    if sets:
        found["membership_values"] = _of_type(sets, kind)
    return found


def _over(leaf: Node) -> Node:
    """A branch whose sides are one leaf."""
    return Node(MODES[0], following=(leaf, leaf))


def _of_type(given: Sequence[float], kind: ElementType) -> Tensor:
    return Tensor(kind, encode(kind, list(given)))
