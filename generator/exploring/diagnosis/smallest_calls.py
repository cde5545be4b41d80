"""The smallest call that a person would write of a failing case: shrunk on the runtime, for its cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from generator.exploring.shrinking.element_changes import with_numbers
from generator.exploring.shrinking.judged_calls import (
    Ask,
    Budget,
    CallFailure,
    CallTrials,
    Exhausted,
    case_of,
)
from generator.exploring.shrinking.known_space import Attempt, CallValidity, open_space
from generator.exploring.shrinking.shrinking import descend, shrink
from opcert.vocabulary.errors import InternalError, UserError
from reference.answers import OutsideDomain, UnstableLength
from reference.readings.disagreements import Disagreement

SHRUNK = ("mismatch", REJECTED_VALID)
"""Verdicts of which calls are shrunk: each lost process costs a start."""


@dataclass(eq=False)
class _OfOneCause(CallTrials):
    """A bench on which a call fails only where it may be of the cause."""

    may_be: Callable[[Case], bool] = bool
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
            replace(
                expectation, outputs=tuple(output for output in expectation.outputs if output.name in wanted)
            )
            for expectation in expectations
        )

    def _judge(self, call: Call, case: Case, response: Response) -> tuple[str, CallFailure | None]:
        return super()._judge(call, self.wanting(case), response)

    def _every(self, call: Call) -> tuple[Expectation, ...]:
        return self._wanted(super()._every(call))

    def _try(self, attempt: Attempt) -> tuple[str, CallFailure | None]:
        if not self.may_be(case_of(self.space, attempt)):
            return "another cause", None
        try:
            word, found = super()._try(attempt)
        except (InternalError, UserError, OutsideDomain):
            return "undefined", None  # what is beyond the reference is no call to show
        other = found is not None and self.own is not None and found.special != self.own.special
        return word, None if other else found


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
        entry = next((disagreement for disagreement in self.entries if disagreement.id == known), None)
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
        declared = {output.name for output in space.spec.outputs}
        if not all({each, each.rpartition("_")[0]} & declared for each in case.wanted):
            return case  # a test of somebody else, with names of its own: whose outputs they are is not known
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
            if any(tensor is not None and not tensor.array.size for _, tensor in other.inputs) and rank < 3:
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
        budget = Budget(seconds=self.seconds)
        bench = _OfOneCause(space, self.ask, may_be=may_be, like=case, budget=budget)
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

    def counted(now: Call) -> Iterator[Call]:
        for name, given in now.inputs:
            if given is None or not given.element_type.is_float or given.array.any() or not given.array.size:
                continue
            yield now.with_input(name, with_numbers(given, np.arange(1, given.array.size + 1)))

    def keep(_now: Call, other: Call) -> Call | None:
        attempt = bench.space.attempt(other)
        found = None if attempt is None else bench.fails(attempt)
        return other if found is not None and found.like(failure) else None

    try:
        for with_some in descend(call, counted, keep):
            call = with_some
    except Exhausted:
        pass
    return call
