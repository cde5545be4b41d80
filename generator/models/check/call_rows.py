"""The rows of one call's cases: which levels of data, extents, constants and fed values stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from generator.calls.rows.covering import cover
from generator.calls.rows.feasibility import ExcludedLevels, Level, Model
from generator.calls.variables.data_levels import DATA
from generator.models.check.call_drawing import CONSTANTS, OWN
from generator.models.check.data_classes import data_classes_of
from generator.models.check.fed_values import feeding_factors, feeding_kinds
from generator.models.check.node_calls import NodeCall

EXTENTS = "extents"
"""The dimension of which shapes the inputs have."""
_DATA_FIRST = (
    "random", "nonfinite", "points", "distinct", "huge", "extremes",
    "signed_zero", "ties", "large_offset", "subnormal", "constant",
)  # fmt: skip
_MOST_LEVELS = 8
Levels = Mapping[str, Level]


def dimensions_of(node: NodeCall, extents: Sequence[str]) -> dict[str, tuple[Level, ...]]:
    """What the cases of a call vary, each with its levels: those of one level are none."""
    found: dict[str, tuple[Level, ...]] = {}
    data = tuple(sorted(data_classes_of(node), key=lambda each: _place(str(each))))
    if data:
        found[DATA] = data
    found[EXTENTS] = tuple(extents)
    if any(
        each.value is not None and each.value.constant is not None and each.kept is None
        for each in node.inputs
    ):
        found[CONSTANTS] = (OWN, "others")
    for kind in feeding_kinds(node):
        for name, levels in feeding_factors(node, kind).items():
            found.setdefault(name, tuple(levels)[:_MOST_LEVELS])
    return found


def _place(level: str) -> int:
    return _DATA_FIRST.index(level) if level in _DATA_FIRST else len(_DATA_FIRST)


def model_of(dimensions: Mapping[str, tuple[Level, ...]]) -> Model:
    """The dimensions without pairs that tell little: few classes of data beside extents at a border."""
    names, data, extents = list(dimensions), dimensions.get(DATA, ()), dimensions[EXTENTS]
    told = {"further": 3, "ones": 3, "none": 1}
    hidden = frozenset(
        (place, at)
        for at, level in enumerate(extents)
        for place in range(told.get(str(level), len(data)), len(data))
    )
    factors = (names.index(DATA), names.index(EXTENTS)) if data else ()
    return Model(dimensions, (ExcludedLevels("tells nothing", factors, hidden),) if hidden else ())


def rows_of(dimensions: Mapping[str, tuple[Level, ...]], most: int) -> list[Levels]:
    """Rows in which as many pairs of levels stand as `most` rows hold; each level once, if that is enough."""
    model = model_of(dimensions)
    array = [model.row_levels(row) for row in cover(model, min(2, len(dimensions)))]
    chosen: list[Levels] = []
    seen: set[frozenset[tuple[str, Level]]] = set()
    while array and len(chosen) < most:
        best = max(array, key=lambda row: (_new_levels(row, chosen), len(pairs_in(row) - seen)))
        array.remove(best)
        chosen.append(best)
        seen |= pairs_in(best)
    return chosen


def _new_levels(row: Levels, chosen: Sequence[Levels]) -> int:
    return sum(all(each.get(name) != level for each in chosen) for name, level in row.items())


def pairs_in(row: Levels) -> set[frozenset[tuple[str, Level]]]:
    """The pairs of levels of a row; of one dimension its level."""
    items = list(row.items())
    return {frozenset(each) for each in combinations(items, min(2, len(items)))}


def count_pairs(dimensions: Mapping[str, tuple[Level, ...]]) -> int:
    """How many pairs of levels there are that tell something; of one dimension how many levels."""
    model = model_of(dimensions)
    sizes = [len(each) for each in dimensions.values()]
    if len(sizes) < 2:
        return sum(sizes)
    hidden = sum(len(each.forbidden) for each in model.rules)
    return sum(one * other for one, other in combinations(sizes, 2)) - hidden
