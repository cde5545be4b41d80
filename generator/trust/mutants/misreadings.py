"""Semantic mutants: a runtime that makes one of the changes by which failures are explained, in every call.

Kinds bring those of a declared operator's values and formula (`Kind.changes`, `generator/calls/edits`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import is_main
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.finding import find_changes
from generator.trust.mutants.mistake import InEveryCall
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.errors import InternalError


@dataclass(frozen=True, eq=False)
class Misreading(InEveryCall):
    """A mutant that takes another call for the one that it is given."""

    change: Change
    file: ClassVar[str] = "generator/calls/edits"
    kind: ClassVar[str] = "misreading"

    @property
    def id(self) -> str:
        return f"misreading: {self.change.key}"

    @property
    def diff(self) -> tuple[str, ...]:
        subject = f"{self.change.subject} = " if self.change.subject else ""
        return (f"+{subject}{self.change.text}",)

    def respond(self, subject: MutatedOperator, call: Call, right: Response | None = None) -> Response:
        """What comes out of the changed call, of the call itself where there is nothing to change."""
        changed = self._changed(subject, call)
        if changed is None:
            return subject.respond(call) if right is None else right
        if changed.expectations is not None:
            return Answered(tuple(each.expected for each in changed.expectations[0].outputs))
        given = changed.call.trimmed()
        return subject.respond(given, changed.settled)

    def applies(self, subject: MutatedOperator, call: Call, _right: Response) -> bool:
        """Whether there is something to change in a call."""
        return self._changed(subject, call) is not None

    def _changed(self, subject: MutatedOperator, call: Call) -> Changed | None:
        try:
            changed = self.change.apply(subject.spec, call)
        except InternalError:  # what the change needs of the reference, the call is not valid for
            return None
        if changed is None or changed.narrow is not None:
            return None
        options = subject.reference.readings
        known = all(option in options.get(name, ()) for name, option in changed.settled.items())
        return changed if known else None


def make_misreadings(subject: MutatedOperator) -> Iterator[Misreading]:
    """Every change that makes sense for the operator, but for those that its spec leaves open.

    Nor for data that is turned round: the change is one of lists that ask for something.
    """
    is_data = is_main(subject.spec)
    turned = {f"input {each.name} reversed" for each in subject.spec.inputs if is_data(each)}
    for change in find_changes(subject.spec):
        if not change.is_accepted(subject.spec) and change.key not in turned:
            yield Misreading(change)
