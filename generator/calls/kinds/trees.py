"""Ensembles of decision trees, grown at random, with an entry for each node and each vote."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.data.grown_trees import (
    MODES,
    TRANSFORMS,
    WEIGHTS,
    Plan,
    as_listed_nodes,
    grow,
    thresholds_of,
)
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from opcert.vocabulary.tensors import Tensor, tensor
from reference.numbers.numbers import encode
from specs.model.spec import Constraint, Otherwise

_SIDES = ("truenodeids", "falsenodeids")
_LISTS = ("nodeids", "featureids", "modes", *_SIDES)
_ONE_SCORE = "one score of 2"
_OF_ONE_SCORE = ["NONE", "LOGISTIC"]
"""The transforms of which programs say what they make of one score of two classes."""
_BATCHES = (31, 32, 33, 1000)


@dataclass(frozen=True)
class Trees(Kind):
    """Trees of a `regressor` or a `classifier` over the features of an input."""

    of: InputName

    modes: ClassVar[tuple[str, ...]] = MODES[:-1]

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(self.subject.spec.attributes)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"}) | self.type_levels(self.of)

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.of,)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "trees": (3, 1),
            "depth": (2, 1, 3, 0),
            "modes": (*self.modes, "mixed"),
            "tracks": (OMITTED, "true", "mixed"),
            "base": (OMITTED, "given"),
            "weights": WEIGHTS,
            "post_transform": TRANSFORMS,
            **self.own_factors(),
        }

    def own_factors(self) -> Mapping[str, tuple[Level, ...]]:
        """The factors that no other of these operators has."""
        return {}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        yield self.bound(levels, int(levels["trees"]), int(levels["depth"]), scope, draw)

    def bound(
        self, levels: Mapping[str, Level], trees: int, depth: int, scope: Partial, draw: Draw
    ) -> dict[str, Any]:
        """All attributes, for so many trees of a depth."""
        raise NotImplementedError

    def plan(self, levels: Mapping[str, Level], trees: int, depth: int, scope: Partial) -> Plan:
        """What the trees are to be like."""
        modes = self.modes if levels["modes"] == "mixed" else (str(levels["modes"]),)
        shape = scope.shape(self.of)
        features = int(shape[1]) if len(shape) > 1 else 1
        listed = thresholds_of(self.type_of(scope, self.of))
        weights = "shares" if levels["post_transform"] == "PROBIT" else str(levels["weights"])
        return Plan(trees, depth, max(features, 1), modes, listed, str(levels["tracks"]), weights)

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        """Thresholds themselves, what stands beside them, some others, and now and then no number."""
        kind = tensor.element_type
        draw = Draw(repr(tensor.array.tolist()))
        known = thresholds_of(kind)
        if kind.is_integer:
            pool: list[Any] = sorted({side(each) for each in known for side in (math.floor, math.ceil)})
            array = np.array([draw.choice(pool) for _ in range(tensor.array.size)])
        else:
            exact = encode(kind, known)
            up, down = (np.nextafter(exact, exact.dtype.type(end)) for end in (np.inf, -np.inf))
            missing = np.full(2, np.nan, exact.dtype)
            beside = [*exact, *exact, *up, *down, *missing, *np.array([0.1, 1e4, -1e4], exact.dtype)]
            array = np.array([draw.choice(beside) for _ in range(tensor.array.size)], exact.dtype)
        return Tensor(kind, array.astype(tensor.array.dtype).reshape(tensor.shape))

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        plain = {factor: levels[0] for factor, levels in self.factors().items()} | {"modes": "mixed"}
        levels = {f"level:{factor}": level for factor, level in plain.items()}
        for word, trees, depth in (("200_trees", 200, 1), ("depth_8", 1, 8)):
            yield word, self.bound(plain, trees, depth, scope, draw) | levels
        width = int(scope.shape(self.of)[1])
        for rows in _BATCHES:
            yield f"batch_{rows}", {f"shape:{self.of}": (rows, width), "N": rows}

    def rules(self) -> Iterable[Constraint]:
        yield from self.tree_rules()
        known = [*TRANSFORMS] if self.listed_by_name else list(range(len(TRANSFORMS)))
        yield self.rule("post_transform_value", f"post_transform in {known!r}", about="post_transform")

    listed_by_name: ClassVar[bool] = True

    def tree_rules(self) -> Iterator[Constraint]:
        """What makes trees of lists of nodes."""
        lists = [f"nodes_{each}" for each in _LISTS]
        given = " and ".join(f"present({each})" for each in (*lists, "nodes_treeids"))
        yield self.rule("nodes_given", given, about="nodes_nodeids")
        same = " and ".join(f"len({each}) == len(nodes_treeids)" for each in lists)
        stated: Otherwise = "error" if self.votes == "class" else "undefined"
        yield self.rule("nodes_same_length", same, given, about="summary", otherwise=stated)
        sound = f"{given} and {same}"
        values = "(nodes_values if present(nodes_values) else [])"
        if self.subject.has("nodes_values_as_tensor"):
            values = f"(values(nodes_values_as_tensor) if present(nodes_values_as_tensor) else {values})"
        count = f"len({values}) == len(nodes_treeids)"
        yield self.rule("nodes_values_length", count, given, about="summary", otherwise=stated)
        tracks = "nodes_missing_value_tracks_true"
        yield self.rule(
            "tracks_length", f"len({tracks}) == len(nodes_treeids)", f"{given} and present({tracks})",
            about="summary", otherwise=stated,
        )  # fmt: skip
        modes = f"all(each in {[*MODES[:-1], 'LEAF']!r} for each in nodes_modes)"
        yield self.rule("nodes_modes_known", modes, given, about="nodes_modes")
        faults = (
            "tree_faults(nodes_treeids, nodes_nodeids, nodes_modes, nodes_truenodeids, nodes_falsenodeids)"
        )
        for name, fault in (("nodes_once", "twice"), ("children_exist", "missing"), ("no_cycle", "cycle")):
            yield self.rule(name, f"{fault!r} not in {faults}", sound, about="nodes_truenodeids")
        inside = f"all(mode == 'LEAF' or 0 <= each < shape({self.of})[1]"
        inside += " for each, mode in zip(nodes_featureids, nodes_modes))"
        yield self.rule("features_inside", inside, sound, about="nodes_featureids")
        yield from self.vote_rules(sound)

    votes: ClassVar[str] = "target"
    """How the attributes with the votes of leaves begin."""

    def vote_rules(self, sound: str) -> Iterator[Constraint]:
        """What the votes of leaves are of."""
        word = self.votes
        lists = [f"{word}_{each}" for each in ("treeids", "nodeids")]
        given = f"present({word}_ids) and {' and '.join(f'present({each})' for each in lists)}"
        yield self.rule("votes_given", given, about=f"{word}_ids")
        weights = f"({word}_weights if present({word}_weights) else [])"
        if self.subject.has(f"{word}_weights_as_tensor"):
            tensor_of = f"{word}_weights_as_tensor"
            weights = f"(values({tensor_of}) if present({tensor_of}) else {weights})"
        same = " and ".join(f"len({each}) == len({word}_ids)" for each in (*lists, weights))
        stated: Otherwise = "error" if word == "class" else "undefined"
        yield self.rule("votes_same_length", same, given, about="summary", otherwise=stated)
        named = f"{word}_treeids, {word}_nodeids, nodes_treeids, nodes_nodeids, nodes_modes"
        leaves = f"are_votes_of_leaves({named})"
        yield self.rule("votes_of_leaves", leaves, f"{sound} and {given} and {same}", about=f"{word}_nodeids")
        inside = f"all(0 <= each < {self.target_count} for each in {word}_ids)"
        yield self.rule("votes_inside", inside, given, about=f"{word}_ids")

    target_count: ClassVar[str] = "n_targets"

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        plain = {factor: levels[0] for factor, levels in self.factors().items()}
        found = self.bound(plain, 1, 2, scope, draw)
        yield "post_transform_value", found | {"post_transform": "SOFTPLUS"}
        yield "nodes_given", found | {"nodes_treeids": None}
        for name in ("nodes_featureids", "nodes_modes", "nodes_truenodeids", "nodes_nodeids"):
            yield "nodes_same_length", found | {name: found[name][:-1]}
        if found["nodes_values"] is not None:
            yield "nodes_values_length", found | {"nodes_values": found["nodes_values"][:-1]}
        tracks = "nodes_missing_value_tracks_true"
        yield "tracks_length", found | {tracks: [1]}
        at = next(place for place, mode in enumerate(found["nodes_modes"]) if mode != "LEAF")
        yield "nodes_modes_known", found | {"nodes_modes": changed(found["nodes_modes"], at, "BRANCH_IN")}
        true, false = found["nodes_truenodeids"], found["nodes_falsenodeids"]
        for wrong in (len(true), -1, 2**31 - 1):
            yield "children_exist", found | {"nodes_truenodeids": changed(true, at, wrong)}
        yield "no_cycle", found | {"nodes_truenodeids": changed(true, at, 0)}
        yield "no_cycle", found | {"nodes_falsenodeids": changed(false, at, true[at])}
        yield (
            "nodes_once",
            found | {name: [*found[name], found[name][-1]] for name in self._node_lists(found)},
        )
        width, features = int(scope.shape(self.of)[1]), found["nodes_featureids"]
        for wrong in (width, -1):
            yield "features_inside", found | {"nodes_featureids": changed(features, at, wrong)}
        word = self.votes
        yield "votes_given", found | {f"{word}_ids": None}
        yield "votes_same_length", found | {f"{word}_nodeids": found[f"{word}_nodeids"][:-1]}
        yield "votes_of_leaves", found | {f"{word}_nodeids": changed(found[f"{word}_nodeids"], 0, 0)}
        for wrong in (50, -1):
            yield "votes_inside", found | {f"{word}_ids": changed(found[f"{word}_ids"], 0, wrong)}

    @staticmethod
    def _node_lists(found: Mapping[str, Any]) -> list[str]:
        return [name for name, value in found.items() if name.startswith("nodes_") and value is not None]


def changed(given: Sequence[Any], place: int, value: Any) -> list[Any]:
    return [value if at == place else each for at, each in enumerate(given)]


@dataclass(frozen=True)
class _Regressor(Trees):
    """Leaves vote for targets."""

    def own_factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"targets": (1, 3), "aggregate_function": ("SUM", "AVERAGE", "MIN", "MAX"), **_forms(self)}

    def bound(
        self, levels: Mapping[str, Level], trees: int, depth: int, scope: Partial, draw: Draw
    ) -> dict[str, Any]:
        plan, targets = self.plan(levels, trees, depth, scope), int(levels["targets"])
        found: dict[str, Any] = dict.fromkeys(self.covers)
        grown = grow(plan, targets, draw, each_target=levels["aggregate_function"] in ("MIN", "MAX"))
        found |= as_listed_nodes(grown, "target", with_tracks=levels["tracks"] != OMITTED)
        base = [draw.integer(-8, 8) / 8 for _ in range(targets)]
        found["base_values"] = (
            base if levels["base"] == "given" and levels["post_transform"] != "PROBIT" else None
        )
        found |= {"n_targets": targets, "post_transform": levels["post_transform"]}
        found["aggregate_function"] = levels["aggregate_function"]
        return _in_tensors(found, levels, self.type_of(scope, self.of).name)

    def rules(self) -> Iterable[Constraint]:
        yield from super().rules()
        listed = "aggregate_function in ['SUM', 'AVERAGE', 'MIN', 'MAX']"
        yield self.rule("aggregate_function_value", listed, about="aggregate_function")
        yield self.rule("n_targets_given", "present(n_targets)", about="n_targets")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield from super().breaches(scope, draw)
        yield "aggregate_function_value", {"aggregate_function": "MEAN"}
        yield "n_targets_given", {"n_targets": None}


@dataclass(frozen=True)
class _Classifier(Trees):
    """Leaves vote for classes, which have labels."""

    votes: ClassVar[str] = "class"
    target_count: ClassVar[str] = (
        "(len(classlabels_strings) if present(classlabels_strings) else len(classlabels_int64s))"
    )

    def own_factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"classes": (3, 2, _ONE_SCORE), "labels": ("int64s", "strings"), **_forms(self)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["classes"] != _ONE_SCORE or levels["post_transform"] in _OF_ONE_SCORE:
            yield from super().candidates(levels, scope, draw)

    def bound(
        self, levels: Mapping[str, Level], trees: int, depth: int, scope: Partial, draw: Draw
    ) -> dict[str, Any]:
        plan = self.plan(levels, trees, depth, scope)
        classes = 1 if levels["classes"] == _ONE_SCORE else int(levels["classes"])
        found: dict[str, Any] = dict.fromkeys(self.covers)
        grown = grow(plan, classes, draw, each_target=True)
        found |= as_listed_nodes(grown, "class", with_tracks=levels["tracks"] != OMITTED)
        base = [draw.integer(-8, 8) / 8 for _ in range(classes)]
        found["base_values"] = (
            base if levels["base"] == "given" and levels["post_transform"] != "PROBIT" else None
        )
        labels: dict[str, list[Any]] = {"int64s": [7, -1, 2**40], "strings": ["b", "", "ä"]}
        found[f"classlabels_{levels['labels']}"] = labels[str(levels["labels"])][: max(classes, 2)]
        found["post_transform"] = levels["post_transform"]
        return _in_tensors(found, levels, self.type_of(scope, self.of).name)

    def rules(self) -> Iterable[Constraint]:
        one = "present(classlabels_int64s) != present(classlabels_strings)"
        yield self.rule("one_of_labels", one, about="classlabels_int64s", otherwise="error")
        yield from super().rules()

    def vote_rules(self, sound: str) -> Iterator[Constraint]:
        labelled = "present(classlabels_int64s) != present(classlabels_strings)"
        yield from super().vote_rules(f"{sound} and {labelled}")
        every = f"all(each in class_ids for each in range({self.target_count}))"
        one = f"{self.target_count} == 2 and not any(class_ids) and post_transform in {_OF_ONE_SCORE!r}"
        given = f"present(class_ids) and {labelled}"
        yield self.rule("every_class_has_votes", f"{every} or ({one})", given, about="class_ids")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield from super().breaches(scope, draw)
        none = {"classlabels_int64s": None, "classlabels_strings": None}
        yield "one_of_labels", none
        yield "one_of_labels", {"classlabels_int64s": [1, 2, 3], "classlabels_strings": ["a", "b", "c"]}
        yield "every_class_has_votes", none | {"classlabels_int64s": [1, 2, 3, 4, 5]}


def _forms(kind: Trees) -> Mapping[str, tuple[Level, ...]]:
    """Numbers in lists of floats, or in tensors of doubles where a version has them."""
    return {"numbers": ("floats", "tensors")} if kind.subject.has("nodes_values_as_tensor") else {}


def _in_tensors(found: dict[str, Any], levels: Mapping[str, Level], kind: str) -> dict[str, Any]:
    """The lists of floats as tensors of doubles, where that is asked for and the input is one of doubles."""
    if levels.get("numbers") == "tensors" and kind == "double":
        for name in [each for each in found if f"{each}_as_tensor" in found and found[each] is not None]:
            found[f"{name}_as_tensor"] = tensor(np.array(found[name], np.float64))
            found[name] = None
    return found


Trees.variants = {"regressor": _Regressor, "classifier": _Classifier}
