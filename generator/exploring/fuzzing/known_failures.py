"""Which finds of a search the suite has already: cases of it that the runtime fails in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.judging.judge import judge
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from conformance.suite.suite_parts import cases_in
from generator.asking.calls import call_of
from generator.exploring.fuzzing.search import Find
from generator.exploring.shrinking.judged_calls import Ask, Budget, CallFailure, Exhausted, failure_of
from generator.exploring.shrinking.known_space import CallValidity
from generator.making.operators.workshop import Options
from generator.making.suites.part_making import make_part_once

MOST_SECONDS = 60.0
"""So long the cases of the suite are asked."""
_MOST_HANGS = 4


@dataclass(frozen=True)
class KnownFailures:
    """The cases of the suite that a runtime fails; `asked` of `cases` of them were tried."""

    space: CallValidity
    failing: tuple[tuple[Case, CallFailure], ...]
    asked: int
    cases: int

    def like(self, find: Find) -> list[Case]:
        """Those that fail as a find does, with the values that matter in it."""
        return [
            case
            for case, failure in self.failing
            if failure.like(find.failure)
            and (case.constraint or "") == find.breaks
            and all(matter.covers(self.space, call_of(case)) for matter in find.matters if matter.decides)
        ]

    def describe(self, find: Find) -> str:
        """Whether the suite has a find already, in a sentence."""
        found = self.like(find)
        if found:
            told = (
                f"{found[0].id} and {len(found) - 1} more fail" if len(found) > 1 else f"{found[0].id} fails"
            )
            return f"the suite has it already: {told} so"
        tried = f"the {self.asked} of {self.cases} cases asked" if self.asked < self.cases else "its cases"
        return f"the suite does not have it: none of {tried} fails so"


def suite_cases(space: CallValidity, folders: Sequence[Path] = ()) -> tuple[Case, ...]:
    """The cases of the operator in the default suite, made where they are not kept yet."""
    return tuple(cases_in(make_part_once(space.spec.operator, Options(), folders).part))


def find_known_failures(
    space: CallValidity, ask: Ask, cases: Sequence[Case], seconds: float = MOST_SECONDS
) -> KnownFailures:
    """Ask a runtime for the cases of a suite: which of them it fails, and how."""
    budget, failing = Budget(seconds=seconds, hangs=_MOST_HANGS), []
    valid = {str(each.id): each for each in cases}
    try:
        for case in cases:
            budget.spend()
            response = ask(case, valid.get(case.valid_case or ""))
            judgement = judge(case, response)
            if judgement.verdict in FAILING:
                budget.hung += judgement.verdict == "timeout"
                how = case.constraint or ""
                failing.append((case, failure_of(judgement, response, how=how)))
    except Exhausted:
        pass
    return KnownFailures(space, tuple(failing), budget.spent, len(cases))
