"""Calls of an operator made from its document alone: its declaration is what the facts say."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.draws import Draw
from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.rows.covering_rows import (
    CoveringRow,
    covering_rows,
    learn_cores,
    make_rows,
    no_call_keeps_the_rules,
)
from generator.calls.solver.solving import Found
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace, open_space
from generator.calls.variables.kind import Level
from opcert.vocabulary.errors import InternalError, SeveralErrors, UserError
from specs.files.declarations import declare_by_documents
from specs.files.spec_folders import OWN_FOLDER, facts_path
from specs.model.spec import Spec

LEAST = 30
"""So many calls are made at least, where there are so many."""
MOST = 400
"""Rows beyond these tell nothing new of a document."""
_TRIES = 8
"""Draws for each call that is still missing."""


@dataclass(frozen=True)
class DocumentCalls:
    """The calls of one document, each with its levels.

    `all_pairs` is whether every pair of levels that some call has is among them. `missing` are the facts
    without which no call could be made, without names and numbers.
    """

    calls: tuple[Call, ...] = ()
    levels: tuple[Mapping[str, Level], ...] = ()
    all_pairs: bool = False
    missing: tuple[str, ...] = ()


@dataclass
class _Rows:
    """What a search came to so far: it may be ended at any time."""

    rows: Sequence[CoveringRow] = ()
    all_pairs: bool = False
    more: list[CoveringRow] = field(default_factory=list)


class _OutOfTime(BaseException):
    """Raised by the clock; what handles errors of calls does not take it for one."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Let what happens inside take so much of the processor's time; in the main thread alone."""

    def ring(*_: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def make_document_calls(
    facts: Spec, seconds: float, least: int = LEAST, like: Sequence[Mapping[str, Level]] = ()
) -> DocumentCalls:
    """Calls of an operator version: all pairs of levels, and others up to `least`.

    The others differ from the levels that they are to be `like`, if there are any, in one that is no element
    type. They are searched for in so many seconds of the processor's time.
    """
    try:
        sparse = tuple(_sparse(facts))
        if sparse:
            return DocumentCalls(missing=sparse)
        spec = declare_by_documents(facts, facts_path(facts.operator, OWN_FOLDER).parent, (OWN_FOLDER,))
        unshaped = tuple(_without_shape(spec))
        space = open_space(spec)
    except UserError as error:
        return DocumentCalls(missing=_told(error))
    found = _Rows()
    try:
        with _limited(seconds):
            _cover(space, found)
            found.rows = found.rows[:MOST]
            _add_more(space, found, least, like)
    except _OutOfTime:
        if not found.rows:
            return DocumentCalls(missing=("its calls are not found in time",))
    except UserError as error:
        if not found.rows:
            return DocumentCalls(missing=unshaped or _told(error))
    except InternalError as error:
        return DocumentCalls(missing=_told(error))
    operator = spec.operator
    rows = {row.call.digest(operator): row for row in (*found.rows, *found.more)}.values()
    missing = (unshaped or ("no call keeps the rules",)) if not rows else ()
    levels = tuple(row.levels for row in rows)
    return DocumentCalls(tuple(row.call for row in rows), levels, found.all_pairs, missing)


def _cover(space: CallSpace, found: _Rows) -> None:
    """Rows of all pairs; combinations that no call has are learned only where a row has no call."""
    found.rows = make_rows(space, ())
    found.all_pairs = _have_calls(covering_rows(space, ()), found.rows)
    if found.all_pairs:
        return
    cores: tuple[ForbiddenCombination, ...] = learn_cores(space)
    found.rows = make_rows(space, cores)
    found.all_pairs = _have_calls(covering_rows(space, cores), found.rows)
    if not found.rows:
        raise no_call_keeps_the_rules(space)


def _have_calls(wanted: Sequence[Mapping[str, Level]], made: Sequence[CoveringRow]) -> bool:
    return all(any(row.items() <= covering_row.levels.items() for covering_row in made) for row in wanted)


def _add_more(space: CallSpace, found: _Rows, least: int, like: Sequence[Mapping[str, Level]]) -> None:
    operator = space.spec.operator
    known = {row.call.digest(operator) for row in found.rows}
    for row in _at_random(space, max(0, least - len(known)) * _TRIES, like):
        if len(known) >= least:
            return
        if row.call.digest(operator) not in known:
            known.add(row.call.digest(operator))
            found.more.append(row)


def _at_random(space: CallSpace, tries: int, like: Sequence[Mapping[str, Level]]) -> Iterator[CoveringRow]:
    for number in range(tries):
        draw = Draw(f"{space.spec.operator}/document/{number}")
        levels = {name: draw.shuffled(factor)[0] for name, factor in space.factors.items()}
        if like:
            name = draw.child("changed").choice(
                [each for each in levels if each not in space.types] or list(levels)
            )
            levels = {**draw.child("like").choice(like), name: levels[name]}
        solved = space.search.solve(levels, draw.child("search"))
        if isinstance(solved, Found):
            call = draw_call(space, solved.scope, levels, draw.child("data"))
            if not find_violations(space.spec, call):
                yield CoveringRow(levels, call)


def _without_shape(spec: Spec) -> Iterator[str]:
    """The inputs of which the document says neither a shape nor what they are."""
    assert spec.declared is not None
    told = {*spec.declared.shapes, *(kind.name for kind in spec.declared.kinds)}
    if any(parameter.name not in told for parameter in spec.inputs if parameter.option != "optional"):
        yield "the shape of an input"


def _sparse(facts: Spec) -> Iterator[str]:
    """The inputs that are sparse tensors alone: no call carries one, and a dense one is none."""
    for parameter in facts.inputs:
        known = facts.type_constraints.get(parameter.type)
        types = known.types if known is not None else (parameter.type,)
        if types and all(text.startswith("sparse_tensor(") for text in types):
            yield "an input of a type that no call carries: a sparse tensor"


def _told(error: UserError | InternalError) -> tuple[str, ...]:
    errors = error.errors if isinstance(error, SeveralErrors) else (error,)
    return tuple(f"{each.problem}: {each.got}" if each.got else each.problem for each in errors)
