"""Ensembles of decision trees with branches and leaves in lists of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.data.grown_trees import MODES, TRANSFORMS, as_nodes_and_leaves, grow
from generator.calls.kinds.trees import Trees, changed
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from opcert.vocabulary.tensors import tensor
from specs.model.spec import Constraint


@dataclass(frozen=True)
class LeafyTrees(Trees):
    """Branches and leaves in lists of their own, numbers in tensors of the input's type."""

    variants: ClassVar[Mapping[str, type[Kind]]] = {}
    modes: ClassVar[tuple[str, ...]] = MODES
    listed_by_name: ClassVar[bool] = False

    def own_factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"base": (OMITTED,), "targets": (1, 3), "aggregate_function": (1, 0, 2, 3)}

    def bound(
        self, levels: Mapping[str, Level], trees: int, depth: int, scope: Partial, draw: Draw
    ) -> dict[str, Any]:
        plan, targets = self.plan(levels, trees, depth, scope), int(levels["targets"])
        found: dict[str, Any] = dict.fromkeys(self.covers)
        kind = self.type_of(scope, self.of)
        # A leaf votes for one target: a tree is of one, so that each has trees of its own.
        plan = replace(plan, trees=max(trees, targets))
        grown = grow(plan, targets, draw, one_target=True)
        found |= as_nodes_and_leaves(grown, kind, with_tracks=levels["tracks"] != OMITTED)
        found |= {"n_targets": targets, "aggregate_function": levels["aggregate_function"]}
        found["post_transform"] = TRANSFORMS.index(str(levels["post_transform"]))
        return found

    def tree_rules(self) -> Iterator[Constraint]:
        lists = ("falseleafs", "falsenodeids", "trueleafs", "truenodeids")
        count = "len(nodes_featureids)"
        same = " and ".join(f"len(nodes_{each}) == {count}" for each in lists)
        same += f" and len(values(nodes_modes)) == {count} and len(values(nodes_splits)) == {count}"
        yield self.rule("nodes_same_length", same, about="nodes_featureids", otherwise="error")
        tracks = "nodes_missing_value_tracks_true"
        yield self.rule(
            "tracks_length",
            f"len({tracks}) == {count}",
            f"present({tracks})",
            about=tracks,
            otherwise="error",
        )
        leaves = "len(leaf_targetids) == len(values(leaf_weights))"
        yield self.rule("leaves_same_length", leaves, about="leaf_weights", otherwise="error")
        known = "all(0 <= each < 7 for each in values(nodes_modes))"
        yield self.rule("nodes_modes_known", known, about="nodes_modes")
        faults = (
            "leafy_tree_faults(tree_roots, nodes_truenodeids, nodes_trueleafs, nodes_falsenodeids, "
            "nodes_falseleafs, len(leaf_targetids))"
        )
        for name, fault in (("children_exist", "missing"), ("no_cycle", "cycle")):
            yield self.rule(name, f"{fault!r} not in {faults}", same, about="nodes_truenodeids")
        inside = f"all(0 <= each < shape({self.of})[1] for each in nodes_featureids)"
        yield self.rule("features_inside", inside, about="nodes_featureids")
        within = "all(0 <= each < n_targets for each in leaf_targetids)"
        yield self.rule("n_targets_given", "present(n_targets)", about="n_targets")
        yield self.rule(
            "votes_inside", within, "present(n_targets)", about="leaf_targetids", otherwise="error"
        )
        for name in ("nodes_splits", "leaf_weights"):
            of_type = f"element_type({name}) == element_type({self.of})"
            yield self.rule(f"{name}_type", of_type, about=name)
        yield self.rule("aggregate_function_value", "0 <= aggregate_function < 4", about="aggregate_function")
        sets = "(values(membership_values) if present(membership_values) else [])"
        ends = f"len([each for each in {sets} if each != each])"
        members = f"{ends} == len([each for each in values(nodes_modes) if each == 6])"
        yield self.rule("sets_of_members", members, about="membership_values")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        plain = {factor: levels[0] for factor, levels in self.factors().items()}
        found = self.bound(plain, 1, 2, scope, draw)
        yield "post_transform_value", found | {"post_transform": 5}
        yield "aggregate_function_value", found | {"aggregate_function": 4}
        for name in ("nodes_truenodeids", "nodes_falseleafs"):
            yield "nodes_same_length", found | {name: found[name][:-1]}
        yield "tracks_length", found | {"nodes_missing_value_tracks_true": [1]}
        yield "leaves_same_length", found | {"leaf_targetids": [*found["leaf_targetids"], 0]}
        modes = [7, *found["nodes_modes"].array.tolist()[1:]]
        yield "nodes_modes_known", found | {"nodes_modes": tensor(np.array(modes, np.uint8))}
        true, features = found["nodes_truenodeids"], found["nodes_featureids"]
        for wrong in (len(features), -1, 2**31 - 1):
            yield "children_exist", found | {"nodes_truenodeids": changed(true, 0, wrong)}
            yield "children_exist", found | {"tree_roots": [wrong]}
        yield "no_cycle", found | {"nodes_truenodeids": changed(true, 0, 0)}
        width = int(scope.shape(self.of)[1])
        yield "features_inside", found | {"nodes_featureids": changed(features, 0, width)}
        yield "n_targets_given", found | {"n_targets": None}
        for wrong in (50, -1):
            yield "votes_inside", found | {"leaf_targetids": changed(found["leaf_targetids"], 0, wrong)}
        for name in ("nodes_splits", "leaf_weights"):
            other = "double" if found[name].element_type.name != "double" else "float"
            yield f"{name}_type", found | {name: tensor(found[name].array.astype(np.float64), other)}
        one = tensor(np.array([math.nan]), found["nodes_splits"].element_type)
        yield "sets_of_members", found | {"membership_values": one}
