"""Each mechanism of an operator alone: one level that is not the plainest, in the plainest types and data.

A covering row switches on several at once, in whatever type it was dealt. A runtime that lacks bfloat16, or
one mode, is then hardly asked about the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.calls.rows.feasibility import FREE, Level, Model, Solver
from generator.calls.variables.data_levels import DATA
from generator.making.cases.meaning import meaningful
from generator.making.cases.telling import answer_of
from generator.making.operators.workshop import Workshop, word_of
from reference.answers import UnstableLength

WORD = "alone"
_OF_SHAPES = ("extents", "rank_")
"""Factors of lengths and ranks, of which every row has some."""
_TRIES = 4
Levels = Mapping[str, str]


def add_lone_levels(workshop: Workshop) -> None:
    """For each level of a mechanism a case in which nothing else is switched on, where there is none yet."""
    if not workshop.rows:
        return
    space, solver = workshop.levels.space, Solver(workshop.model)
    types = {name: str(space.plainest[name]) for name in space.types}
    known = [case.levels for case in workshop.cases.values() if case.demand == "answer" and case.levels]
    wanted = ((word_of(f"{WORD}_{name}_{level}"), name, level) for name, level in _levels(workshop.model))
    for word, name, level in workshop.lacking("boundary", wanted):
        row = _plainest_with(solver, name, level)
        levels = None if row is None else {**types, **row}
        if levels is not None and not any(levels.items() <= each.items() for each in known):
            _add_first(workshop, word, name, levels)


def _levels(model: Model) -> Iterator[tuple[str, Level]]:
    """The levels of mechanisms: of all factors but data, lengths and ranks."""
    for name, levels in model.levels.items():
        if name != DATA and not name.startswith((*_OF_SHAPES, "type_")):
            yield from ((name, level) for level in levels)


def _plainest_with(solver: Solver, name: str, level: Level) -> dict[str, str] | None:
    """The plainest row that has a level; None where none has."""
    model = solver.model
    place = model.names.index(name)
    row = [FREE] * len(model.sizes)
    row[place] = model.levels[name].index(level)
    found = solver.complete(row)
    return None if found is None else {name: str(each) for name, each in model.row_levels(found).items()}


def _add_first(workshop: Workshop, word: str, name: str, levels: Levels) -> None:
    """Keep the case of the first call with these levels in which that of a name matters; else the first."""
    kept: tuple[Call, Case] | None = None
    draw = workshop.draw(WORD, word)
    for turn in range(_TRIES):
        call = workshop.levels.build_call(workshop.spec, levels, draw.child(str(turn)))
        if call is None or workshop.has(call.trimmed()):
            continue
        with suppress(UnstableLength):
            made = call.trimmed(), workshop.make_valid("boundary", word, call, levels)
            made = meaningful(workshop, *made)
            kept = kept or made
            if _matters(workshop, name, made[0]):
                kept = made
                break
    if kept is not None:
        workshop.keep(*kept)


def _matters(workshop: Workshop, name: str, call: Call) -> bool:
    """Whether a call without an attribute has another answer, or is none at all."""
    if name not in call.attributes:
        return True
    without = call.with_attribute(name, None)
    if workshop.violations(without):
        return True
    return answer_of(workshop, without) != answer_of(workshop, call)
