"""The smallest call that a person would write of a failing case: shrunk on the runtime, for its cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from conformance.judging.responses import Response
from conformance.judging.verdicts import REJECTED_VALID
from conformance.suite.cases import Case, Expectation
from conformance.suite.where_shown import ORDER, Shows, shows_of
from generator.asking.calls import Call, call_of
from generator.asking.expectations import expect
from generator.exploring.diagnosis.explainer import Scopes
from generator.exploring.shrinking.judged_calls import Ask, CallFailure, CallTrials, case_of
from generator.exploring.shrinking.known_space import Attempt, CallValidity, open_space
from generator.exploring.shrinking.reductions import converted
from generator.exploring.shrinking.shrinking import shrink
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.readings.disagreements import Disagreement

SHRUNK = ("mismatch", REJECTED_VALID)
"""Verdicts of which calls are shrunk: each lost process costs a start."""


@dataclass(eq=False)
class _OfOneCause(CallTrials):
    """A bench on which a call fails only where it may be of the cause, and while there is time."""

    may_be: Callable[[Case], bool] = bool
    until: float = 0.0
    own: CallFailure | None = None
    like: Case | None = None
    """The case that is shrunk: a smaller one wants the same outputs."""

    def of(self, call: Call, expectations: tuple[Expectation, ...]) -> Case:
        """A call as a case that wants the outputs which the first one wants."""
        return self.wanting(case_of(self.space, Attempt(call), expectations))

    def wanting(self, case: Case) -> Case:
        """A case with those of its outputs that the first one wants."""
        assert self.like is not None
        asked = self.like.outputs_asked
        expectations = self._wanted(case.expectations)
        found = replace(
            case, output_names=self.like.output_names, outputs_asked=asked, expectations=expectations
        )
        return replace(found, id=replace(found.id, digest=found.call_digest())) if asked else found

    def _wanted(self, expectations: Iterable[Expectation]) -> tuple[Expectation, ...]:
        assert self.like is not None
        wanted = frozenset(self.like.wanted)
        return tuple(
            replace(each, outputs=tuple(output for output in each.outputs if output.name in wanted))
            for each in expectations
        )

    def _judge(self, call: Call, case: Case, response: Response) -> tuple[str, CallFailure | None]:
        return super()._judge(call, self.wanting(case), response)

    def _every(self, call: Call) -> tuple[Expectation, ...]:
        return self._wanted(super()._every(call))

    def fails(self, attempt: Attempt) -> CallFailure | None:
        if time.monotonic() > self.until or not self.may_be(case_of(self.space, attempt)):
            return None
        try:
            found = super().fails(attempt)
        except (InternalError, UserError, OutsideDomain):
            return None  # what is beyond the reference is no call to show
        if found is not None and self.own is not None and found.special != self.own.special:
            return None
        return found


@dataclass(frozen=True, eq=False)
class SmallestCalls:
    """Shrinks calls on one runtime, each for so many `seconds`.

    `runtime` is its name in entries, of which there are `entries`.
    """

    ask: Ask
    runtime: str
    entries: Sequence[Disagreement]
    seconds: float
    folders: tuple[Path, ...] = ()

    def of(
        self, case: Case, verdict: str, reason: str, known: str | None, shows: Shows | None = None
    ) -> Case:
        """A smaller case that fails in the same way, on data as ordinary; else the case itself.

        `known` is the id of the entry that explains it: what it says of calls must hold of the smaller one.
        `shows` is on what data it shows, its wrong elements among them; else what its call says of that.
        """
        entry = next((each for each in self.entries if each.id == known), None)
        if verdict not in SHRUNK or case.demand != "answer" or case.slots or not case.inputs:
            return case
        if case.model is not None or case.properties or case.output_types:
            return case
        if entry is not None and entry.levels:
            return case  # which levels a smaller call has is not known here
        try:
            space = open_space(case.operator, self.folders)
        except (UserError, KeyError):
            return case
        rank = ORDER.index(shows_of(case) if shows is None else shows)
        return self._shrunk(space, case, verdict, reason, entry, rank)

    def _shrunk(
        self,
        space: CallValidity,
        case: Case,
        verdict: str,
        reason: str,
        entry: Disagreement | None,
        rank: int,
    ) -> Case:
        scopes = Scopes(self.folders)

        def may_be(other: Case) -> bool:
            if any(each is not None and not each.array.size for _, each in other.inputs) and rank < 3:
                return False
            if ORDER.index(shows_of(other)) > rank:
                return False
            if entry is None:
                return True
            names = None if entry.when is None else scopes.names_of(other)
            levels = {"element_type": other.element_type.name}
            try:
                return entry.explains(
                    str(other.operator), str(other.id), self.runtime, verdict, levels, reason, names
                )
            except UserError:
                return False

        attempt = space.attempt(call_of(case))
        until = time.monotonic() + self.seconds
        bench = _OfOneCause(space, self.ask, may_be=may_be, until=until, like=case)
        bench.ask = lambda one, valid: self.ask(bench.wanting(one), valid)
        failure = None if attempt is None else bench.fails(attempt)
        if attempt is None or failure is None or failure.verdict != verdict:
            return case
        bench.own = failure
        small = shrink(bench, attempt, failure)
        call = _with_numbers(bench, small.attempt.call, failure)
        try:
            expectations = tuple(expect(space.spec, space.reference, call))
        except (InternalError, UserError, OutsideDomain, UnstableLength):
            return case
        found = bench.of(call, expectations)
        if found.call_digest() == case.call_digest() or ORDER.index(shows_of(found)) > rank:
            return case
        return replace(found, sources=case.sources, rule=case.rule)


def _with_numbers(bench: _OfOneCause, call: Call, failure: CallFailure) -> Call:
    """The call with 1, 2, 3 where it has zeros alone, as people write it, where it fails so, too."""
    for name, given in call.inputs:
        if given is None or not given.element_type.is_float or given.array.size == 0 or given.array.any():
            continue
        counted = np.arange(1, given.array.size + 1, dtype=np.float64).reshape(given.shape)
        told = converted(Tensor(ELEMENT_TYPES["double"], counted), given.element_type)
        other = call.with_input(name, told)
        attempt = bench.space.attempt(other)
        found = None if attempt is None else bench.fails(attempt)
        if found is not None and found.like(failure):
            call = other
    return call
