"""The operators of a run by how they stand: with a failure, without one, not offered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from conformance.judging.verdicts import WORST_FIRST, VerdictCounts
from opcert.vocabulary.names import OperatorName
from reports.causes.failure_class import FailureClass
from reports.overview.decided import Standing, standing
from reports.results.case_results import CaseResult
from reports.text.links import operator_link

_HEADINGS: dict[Standing, str] = {
    "with": "with a failure",
    "without": "without a failure",
    "not offered": "not offered",
}
MOST_NAMED = 300
"""So many operators of a group are named."""


@dataclass(frozen=True)
class OperatorStanding(VerdictCounts):
    """An operator in all its versions; `note` is the number of its first cause, 0 without one."""

    name: str
    link: str
    counts: dict[str, int]
    note: int

    @cached_property
    def verdict(self) -> str:
        """The worst of its verdicts."""
        return next(each for each in WORST_FIRST if self.counts.get(each))


@dataclass(frozen=True)
class StandingGroup:
    """Operators that stand alike, those whose cause is to be fixed first at the head."""

    heading: str
    operators: tuple[OperatorStanding, ...]

    @property
    def named(self) -> tuple[OperatorStanding, ...]:
        return self.operators[:MOST_NAMED]

    @property
    def left_out(self) -> int:
        """How many are counted alone."""
        return len(self.operators) - len(self.named)


def operator_standings(
    cases: Sequence[CaseResult], classes: Sequence[FailureClass], of: str = ""
) -> tuple[StandingGroup, ...]:
    """The groups in which there is an operator; `of` names the run in links, `classes` are its causes."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    one_of: dict[str, OperatorName] = {}
    for each in cases:
        counts[each.operator.unversioned][each.verdict] += 1
        one_of[each.operator.unversioned] = each.operator
    notes: dict[str, int] = {}
    for found in classes:
        for operator in found.operators if found.fails else ():
            notes.setdefault(operator.unversioned, found.number)
    bare = Counter(each.name for each in one_of.values())
    groups: dict[Standing, list[OperatorStanding]] = {name: [] for name in _HEADINGS}
    for name, operator in one_of.items():
        shown = operator.name if bare[operator.name] == 1 else name
        link, note = operator_link(operator, of), notes.get(name, 0)
        groups[standing(counts[name].keys())].append(OperatorStanding(shown, link, dict(counts[name]), note))
    return tuple(
        StandingGroup(heading, tuple(sorted(groups[name], key=lambda each: (each.note, each.name))))
        for name, heading in _HEADINGS.items()
        if groups[name]
    )
