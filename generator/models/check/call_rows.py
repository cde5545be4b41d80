"""The rows of one call's cases: which levels of data, extents, constants and fed values stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import prod

from generator.calls.rows.covering import cover
from generator.calls.rows.factors import LARGEST_EXCLUSION
from generator.calls.rows.feasibility import ExcludedLevels, Level, Model
from generator.calls.variables.data_levels import DATA, fits
from generator.models.check.call_drawing import CONSTANTS, OWN
from generator.models.check.fed_values import feeding_factors, feeding_kinds
from generator.models.check.node_calls import NodeCall
from specs.language.expressions import EvaluationError, parse

OMITTED = "omitted"


def data_classes_of(node: NodeCall) -> tuple[Level, ...]:
    """The classes for the inputs that are drawn; none where every input's values are decided otherwise.

    A class that an exclusion takes out is left out wherever it may be this call that the exclusion is about:
    of data of which no document says what comes of it, nothing is asked.
    """
    drawn = [each for each in node.inputs if each.value is not None and each.name not in node.space.covered]
    if not drawn:
        return ()
    known = [each for each in node.space.factors.get(DATA, ()) if fits(drawn[0].element_type, each)]
    return tuple(each for each in known if not _is_excluded(node, each))


def _is_excluded(node: NodeCall, level: Level) -> bool:
    for exclusion in node.space.spec.exclusions:
        expression = parse(exclusion.when)
        if DATA not in expression.names:
            continue
        choices = {name: _levels_of(node, name) for name in sorted(expression.names - {DATA})}
        if prod(map(len, choices.values())) > LARGEST_EXCLUSION:
            return True
        for chosen in product(*choices.values()):
            try:
                if expression.evaluate({DATA: level, **dict(zip(choices, chosen, strict=True))}):
                    return True
            except EvaluationError:
                return True
    return False


def _levels_of(node: NodeCall, name: str) -> tuple[Level, ...]:
    """The level that a factor has in the call where it is known, else all that it may have."""
    levels = node.space.factors.get(name, ())
    if name.startswith("type_") and name.removeprefix("type_") in node.types:
        return (node.types[name.removeprefix("type_")],)
    given = _given_level(node, name, levels)
    return levels if given is None else (given,)


def _given_level(node: NodeCall, name: str, levels: tuple[Level, ...]) -> Level | None:
    stated: Mapping[str, object] = {each: one.value for each, one in node.attributes.items()}
    taken = {each.name for each in node.inputs if each.value is not None}
    if name in node.space.spec.attributes and name not in stated:
        return OMITTED if OMITTED in levels else None
    if name in {each.name for each in node.space.spec.inputs} and name not in taken:
        return OMITTED if OMITTED in levels else None
    value = stated.get(name)
    return value if isinstance(value, str | int | float) and value in levels else None


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
