"""Cases that cover every feasible combination of factor levels."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from generator.ambiguity import ambiguity
from generator.calls import Call
from generator.covering import cover, with_fixed
from generator.feasibility import FREE, Level, Model, Row, Solver
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
    seeds = _selected_rows(workshop) or [model.row_levels(plainest)]
    rows = cover(model, workshop.options.strength, seeds)
    if workshop.options.size != "small":
        rows += _focused_rows(model, getattr(workshop.levels, "FOCUS", {}), workshop.options.strength)
    for row in dict.fromkeys(rows):
        levels = {name: str(level) for name, level in model.row_levels(row).items()}
        if levels not in workshop.rows:
            _make_case(workshop, levels)


def _selected_rows(workshop: Workshop) -> list[Mapping[str, Level]]:
    """The rows of the cases that `workshop.selected` names, which are made here."""
    model = workshop.model
    rows: list[Mapping[str, Level]] = []
    for each in workshop.selected:
        plain = {name: {str(level): level for level in levels} for name, levels in model.levels.items()}
        if each.attempt is None or any(each.levels.get(name) not in plain[name] for name in plain):
            continue
        call = drawn_call(workshop, each.levels, each.attempt)
        if call is not None and call.digest(workshop.spec.operator) == each.digest:
            workshop.add_valid("cover", None, call, each.levels)
            workshop.rows.append(each.levels)
            rows.append({name: plain[name][level] for name, level in each.levels.items()})
    return rows


def drawn_call(workshop: Workshop, levels: Mapping[str, str], attempt: int) -> Call | None:
    """One of the calls that are drawn for a row; None where no call has its levels."""
    label = " ".join(f"{name}={level}" for name, level in sorted(levels.items()))
    draw = workshop.draw("cover", label).child(str(attempt))
    return workshop.levels.build_call(workshop.spec, levels, draw)


def _focused_rows(model: Model, focus: Mapping[str, Level], strength: int) -> list[Row]:
    """Rows that cover the other factors once more, with some levels fixed.

    Where a runtime supports few levels of a factor, most of the ordinary rows hide what it does with the
    other factors; among these, none is hidden by the focused ones.
    """
    return cover(with_fixed(model, focus), strength) if focus else []


def _make_case(workshop: Workshop, levels: Mapping[str, str]) -> None:
    """The clearest case of some draws: the first in which hardly an element has several accepted results."""
    known, best = False, None
    for attempt in range(ATTEMPTS):
        if best is not None and attempt >= CLEARER:
            break
        call = drawn_call(workshop, levels, attempt)
        if call is None:
            raise InternalError(
                f"no call of {workshop.spec.operator} has levels that no exclusion rules out",
                got=str(levels),
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
