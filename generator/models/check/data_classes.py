"""The classes of data that a call may have: those that its operator's declaration does not exclude."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod

from generator.calls.rows.factors import LARGEST_EXCLUSION
from generator.calls.rows.feasibility import Level
from generator.calls.variables.data_levels import DATA, fits
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
