"""Cases in which little seems to be asked for, and a runtime that hands its input on is wrong.

Lengths stay, an axis has one element, indices look like a range: a case is kept where an input that is handed
on as it is, element for element and bit for bit, is refused. That is tried when the case is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.borders.shortcuts import plain_call
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial, levels_in
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.making.operators.workshop import Workshop, word_of
from opcert.vocabulary.tensors import Tensor
from reference.answers import UnstableLength
from specs.language.evaluation import EvaluationError


def add_told_shortcuts(workshop: Workshop) -> None:
    """For each kind of value the calls at which a runtime may hand on what it is given, and is wrong."""
    calls = _calls(workshop.levels.space, workshop.draw("told shortcuts"))
    for word, call in workshop.lacking("boundary", calls):
        if workshop.violations(call) or workshop.has(call):
            continue
        with suppress(UnstableLength):
            case = workshop.make_valid("boundary", word_of(word), call)
            if tells_what_is_handed_on(case):
                workshop.keep(call, case)


def tells_what_is_handed_on(case: Case) -> bool:
    """Whether the first input as it is in place of the first output is wrong; False where it cannot be.

    Of several readings the first one says so: by another one a runtime may be right, and the case tells then
    which one it follows.
    """
    handed = _handed_on(case)
    if handed is None:
        return False
    strict = replace(case, expectations=case.expectations[:1])
    return judge(strict, as_run(strict, handed)).verdict in DIFFERENT


def _handed_on(case: Case) -> Answered | None:
    """The answer of a runtime whose first output has the elements of the first input in another shape."""
    given = next((each for _, each in case.inputs if each is not None), None)
    if given is None or not case.expectations:
        return None
    first, *others = (each.expected for each in case.expectations[0].outputs)
    bits = given.element_type.bits
    if given.array.size != first.array.size or bits is None or bits != first.element_type.bits:
        return None
    if given.array.dtype.itemsize != first.array.dtype.itemsize or not first.array.size:
        return None
    elements = given.array.reshape(first.shape)
    return Answered((Tensor(first.element_type, elements.view(first.array.dtype)), *others))


def _calls(space: CallSpace, draw: Draw) -> Iterator[tuple[str, Call]]:
    """The calls of all kinds, of a plain one of which some values are others."""
    plain = plain_call(space, draw)
    if plain is None:
        return
    levels, found = plain
    for kind in space.kinds:
        stream = draw.child(kind.name)
        with suppress(EvaluationError):
            for word, change in kind.shortcuts(found.scope, stream):
                scope = Partial(found.scope.spec, {**found.scope.bindings, **change})
                call = draw_call(space, scope, {**levels, **levels_in(change)}, stream.child(word))
                if not broken_rules(space, call):
                    yield word, call
