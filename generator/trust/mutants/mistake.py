"""A mistake in every call, whatever the operator: what is taken for the call, what is made of the answer."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import ClassVar

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.trust.mutants.reach import Point
from generator.trust.mutants.subject import MutatedOperator
from specs.model.spec import Spec

Taken = Callable[[Spec, Call], Call | None]
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
        return any(each.id in self.accepted_by and each.chosen is None for each in spec.readings)


class InEveryCall:
    """What mutants have in common that are wrong about any call, and at no line of the code; see `Mutant`."""

    line: ClassVar[int] = 0
    points: ClassVar[frozenset[Point]] = frozenset()

    def running(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(frozen=True, eq=False)
class Mistaken(InEveryCall):
    """A mutant that makes a mistake in every call."""

    mistake: Mistake
    file: str
    kind: str

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.mistake.key}"

    @property
    def diff(self) -> tuple[str, ...]:
        return (f"+{self.mistake.text}",)

    def respond(self, subject: MutatedOperator, call: Call, right: Response | None = None) -> Response:
        """What comes out of the mistake, the right answer where there is nothing to mistake."""
        taken = self._taken(subject, call)
        response = right
        if taken is not None or response is None:
            response = subject.respond(call if taken is None else taken.trimmed())
        given_up = self.mistake.taken is not None and taken is None
        made = None if given_up else self._made(subject, call, response)
        return response if made is None else made

    def applies(self, subject: MutatedOperator, call: Call, right: Response) -> bool:
        """Whether there is something to mistake in a call, or in its answer."""
        if self.mistake.taken is not None:
            return self._taken(subject, call) is not None
        return self._made(subject, call, right) is not None

    def _taken(self, subject: MutatedOperator, call: Call) -> Call | None:
        if self.mistake.taken is None:
            return None
        try:
            return self.mistake.taken(subject.spec, call)
        except _LACKING:
            return None

    def _made(self, subject: MutatedOperator, call: Call, answer: Response) -> Response | None:
        if self.mistake.made is None or not isinstance(answer, Answered):
            return None
        try:
            return self.mistake.made(subject.spec, call, answer)
        except _LACKING:
            return None


def make_mistakes(spec: Spec) -> Iterator[Mistaken]:
    """Every mistake that makes sense for an operator, but for those that its spec leaves open."""
    for name, find in _finders():
        for mistake in find(spec):
            if not mistake.is_accepted(spec):
                yield Mistaken(mistake, f"generator/trust/mutants/mistakes/{name}.py", name.replace("_", " "))


@cache
def _finders() -> Sequence[tuple[str, Callable[[Spec], Iterator[Mistake]]]]:
    mistakes = import_module("generator.trust.mutants.mistakes")
    names = sorted(each.name for each in pkgutil.iter_modules(mistakes.__path__))
    return [(name, import_module(f"{mistakes.__name__}.{name}").mistakes) for name in names]
