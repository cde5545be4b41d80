"""A mistake in every call, whatever the operator: what is taken for the call, what is made of the answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

from conformance.judging.responses import Answered, Refused, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import Exchange, is_any, is_main, with_inputs, with_outputs
from generator.calls.edits.change import Changed
from generator.trust.mutants.mutated_parts import Point
from generator.trust.mutants.subject import MutatedOperator
from specs.model.spec import Spec

Taken = Callable[[Spec, Call], Call | Changed | None]
Made = Callable[[Spec, Call, Answered], Response | None]
_LACKING = (ValueError, IndexError, ArithmeticError)
"""What a mistake raises on a call that does not have what it is about."""


@dataclass(frozen=True, eq=False)
class Mistake:
    """One mistake. `key` is stable and names it; `text` says in words what was done instead.

    `taken` gives the call that another one is taken for, `made` what becomes of the answer to that; either
    gives None where it has nothing to say of a call. What it does is right where a spec leaves one of the
    readings `accepted_by` open.
    """

    key: str
    text: str
    taken: Taken | None = None
    made: Made | None = None
    accepted_by: tuple[str, ...] = ()

    def is_accepted(self, spec: Spec) -> bool:
        """Whether a runtime that makes it in every call keeps to the spec."""
        return any(reading.id in self.accepted_by and reading.chosen is None for reading in spec.readings)


def of_inputs(
    key: str, text: str, exchange: Exchange, *, of_main: bool = False, accepted_by: tuple[str, ...] = ()
) -> Mistake:
    """A mistake about all inputs, or those of the first one's type."""

    def taken(spec: Spec, call: Call) -> Call | None:
        return with_inputs(spec, call, exchange, is_main(spec) if of_main else is_any)

    return Mistake(key, text, taken, accepted_by=accepted_by)


def of_outputs(
    key: str, text: str, exchange: Exchange, *, of_main: bool = False, accepted_by: tuple[str, ...] = ()
) -> Mistake:
    """A mistake about all outputs, or those of the first input's type."""

    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        return with_outputs(spec, call, answer, exchange, is_main(spec) if of_main else is_any)

    return Mistake(key, text, made=made, accepted_by=accepted_by)


def refusing(key: str, text: str, when: Callable[[Spec, Call, Answered], bool]) -> Mistake:
    """Calls that are refused."""

    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        return Refused("Mistake", text) if when(spec, call, answer) else None

    return Mistake(key, text, made=made)


@dataclass(frozen=True, eq=False)
class Mistaken:
    """A mutant that makes a mistake in every call, and at no line of the code; see `Mutant`."""

    mistake: Mistake
    file: str
    kind: str
    line: ClassVar[int] = 0
    points: ClassVar[frozenset[Point]] = frozenset()

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.mistake.key}"

    @property
    def diff(self) -> tuple[str, ...]:
        return (f"+{self.mistake.text}",)

    def running(self) -> AbstractContextManager[None]:
        return nullcontext()

    def respond(self, subject: MutatedOperator, call: Call, right: Response | None = None) -> Response:
        """What comes out of the mistake, the right answer where there is nothing to mistake."""
        taken, response = self._taken(subject, call), right
        if taken is not None and taken.expectations is not None:
            response = Answered(tuple(output.expected for output in taken.expectations[0].outputs))
        elif taken is not None:
            response = subject.respond(taken.call.trimmed(), taken.settled)
        elif response is None:
            response = subject.respond(call)
        given_up = self.mistake.taken is not None and taken is None
        made = None if given_up else self._made(subject, call, response)
        return response if made is None else made

    def applies(self, subject: MutatedOperator, call: Call, right: Response) -> bool:
        """Whether there is something to mistake in a call, or in its answer."""
        if self.mistake.taken is not None:
            return self._taken(subject, call) is not None
        return self._made(subject, call, right) is not None

    def _taken(self, subject: MutatedOperator, call: Call) -> Changed | None:
        if self.mistake.taken is None:
            return None
        try:
            taken = self.mistake.taken(subject.spec, call)
        except _LACKING:
            return None
        return Changed(taken) if isinstance(taken, Call) else taken

    def _made(self, subject: MutatedOperator, call: Call, answer: Response) -> Response | None:
        if self.mistake.made is None or not isinstance(answer, Answered):
            return None
        try:
            return self.mistake.made(subject.spec, call, answer)
        except _LACKING:
            return None
