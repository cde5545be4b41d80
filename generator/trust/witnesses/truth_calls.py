"""The calls that the truth test of a declared operator asks about: valid ones, and ones that break a rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generator.asking.calls import Call
from generator.calls.borders.breaches import Breach, find_breaches
from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.rows.covering_rows import make_rows
from generator.calls.space.space import CallSpace


@dataclass(frozen=True)
class TruthCalls:
    """Each call once: what must be answered; what a text calls an error; what no text speaks of."""

    valid: tuple[Call, ...]
    errors: tuple[Breach, ...]
    undefined: tuple[Breach, ...]


def make_truth_calls(
    space: CallSpace, cores: Sequence[ForbiddenCombination], strength: int = 2
) -> TruthCalls:
    """The calls of a space: covering rows and borders, and breaches of its rules."""
    operator = space.spec.operator
    rows = (row.call for row in make_rows(space, cores, strength))
    edges = (edge.call for edge in find_edges(space, Draw(f"{operator}/boundary")))
    breaches = find_breaches(space, Draw(f"{operator}/invalid"))
    errors = [each for each in breaches if each.constraint.otherwise == "error"]
    others = [each for each in breaches if each.constraint.otherwise != "error"]
    return TruthCalls(
        tuple(_each_once(space, (*rows, *edges))),
        tuple({each.call.digest(operator): each for each in errors}.values()),
        tuple({each.call.digest(operator): each for each in others}.values()),
    )


def _each_once(space: CallSpace, calls: Iterable[Call]) -> Iterable[Call]:
    return {each.digest(space.spec.operator): each for each in calls}.values()
