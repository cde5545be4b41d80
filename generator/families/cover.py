"""Cases that cover every feasible combination of factor levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from generator.ambiguity import ambiguity
from generator.covering import cover
from generator.feasibility import FREE, Level, Model, Row, Rule, Solver
from generator.workshop import Workshop
from opcert.errors import InternalError
from reference.answers import UnstableLength

ATTEMPTS = 25
"""Draws for one row before it is given up: an output length may hang on rounding, or the call be known."""

CLEARER = 8
"""Draws among which the clearest is taken."""
CLEAR = Fraction(1, 100)
"""A share of elements with several accepted results that is clear enough."""


def make_cases(workshop: Workshop) -> None:
    model = workshop.model
    if not model.levels:
        return
    plainest = Solver(model).complete([FREE] * len(model.sizes))
    if plainest is None:
        raise InternalError(f"the exclusions of {workshop.spec.operator} leave no combination of levels")
    rows = cover(model, workshop.options.strength, [model.row_levels(plainest)])
    if workshop.options.size != "small":
        rows += _focused_rows(model, getattr(workshop.levels, "FOCUS", {}), workshop.options.strength)
    for row in dict.fromkeys(rows):
        _make_case(workshop, {name: str(level) for name, level in model.row_levels(row).items()})


def _focused_rows(model: Model, focus: Mapping[str, Level], strength: int) -> list[Row]:
    """Rows that cover the other factors once more, with some levels fixed.

    Where a runtime supports few levels of a factor, most of the ordinary rows hide what it does with the
    other factors; among these, none is hidden by the focused ones.
    """
    if not focus:
        return []
    fixed = [
        Rule(
            f"focus on {name}={level}",
            (model.names.index(name),),
            frozenset((index,) for index, each in enumerate(model.levels[name]) if each != level),
        )
        for name, level in focus.items()
        if name in model.levels
    ]
    return cover(replace(model, rules=(*model.rules, *fixed)), strength)


def _make_case(workshop: Workshop, levels: Mapping[str, str]) -> None:
    """The clearest case of some draws: the first in which hardly an element has several accepted results."""
    label = " ".join(f"{name}={level}" for name, level in sorted(levels.items()))
    known, best = False, None
    for attempt in range(ATTEMPTS):
        if best is not None and attempt >= CLEARER:
            break
        call = workshop.levels.build_call(
            workshop.spec, levels, workshop.draw("cover", label).child(str(attempt))
        )
        if call is None:
            raise InternalError(
                f"no call of {workshop.spec.operator} has levels that no exclusion rules out",
                got=label,
            )
        if workshop.has(call):
            known = True
            continue
        try:
            case = workshop.make_valid("cover", None, call, levels)
        except UnstableLength:
            continue
        share = ambiguity([case]).share
        if best is None or share < best[0]:
            best = (share, call, case)
        if share <= CLEAR:
            break
    if best is not None:
        workshop.keep(*best[1:])
        workshop.rows.append(levels)
        return
    # A call without anything random in it may be another family's case already: that one covers the row.
    (workshop.rows if known else workshop.dropped).append(levels)
