"""What a run comes to: operators without and with failures, and of what was decided the part that conforms.

One denominator serves all figures: cases that pass or fail. What is beside them, less exact, open in the
documents, not offered or only asked to survive, is counted once, and everything adds up to the number of
cases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from conformance.judging.verdicts import FAILING, WORST_FIRST, VerdictCounts, count_failing
from opcert.vocabulary.names import OperatorName
from reports.causes.failure_class import FailureClass
from reports.results.case_results import CaseResult
from reports.text.links import operator_link
from reports.text.phrasing import count, plural


@dataclass(frozen=True)
class Decided:
    """The figures of a run; operators count by name, whatever their versions.

    `undecided` are cases that nobody may be judged by: they were not run, opcert failed on them, or its own
    limits ended them.
    """

    operators: int
    operators_without_failure: int
    operators_not_offered: int
    conforming: int
    failing: int
    causes: int
    inexact: int
    document: int
    unsupported: int
    observed: int
    undecided: int

    @property
    def operators_with_failure(self) -> int:
        return self.operators - self.operators_without_failure - self.operators_not_offered

    @property
    def decided(self) -> int:
        return self.conforming + self.failing

    @property
    def share(self) -> str:
        """The part of what was decided that conforms; empty where nothing was decided."""
        return share_text(self.conforming, self.decided)

    def to_json(self) -> dict[str, int]:
        """By the names that `report.json` has for them."""
        named = ("operators_without_failure", "operators_with_failure", "operators_not_offered")
        cases = ("decided", "conforming", "failing", "causes")
        beside = ("inexact", "document", "unsupported", "observed", "undecided")
        return {each: getattr(self, each) for each in ("operators", *named, *cases, *beside)}

    def sentences(self) -> tuple[str, ...]:
        """What there is to say first: of operators, then of decided cases."""
        counted = (
            (self.operators_without_failure, "without a failure"),
            (self.operators_with_failure, "with failures"),
            (self.operators_not_offered, "unsupported" if self.unsupported else "undecided"),
        )
        said = ", ".join(f"{number} {words}" for number, words in counted if number)
        first = f"{plural(self.operators, 'operator')}: {said or 'none decided'}."
        if not self.decided:
            return (first, "Nothing was decided.")
        verb = "conforms" if self.decided == 1 else "conform"
        second = f"{self.share} of {plural(self.decided, 'decided case')} {verb}"
        if not self.failing:
            return (first, f"{second}; none fails.")
        verb, causes = ("fails" if self.failing == 1 else "fail"), plural(self.causes, "cause")
        return (first, f"{second}; {count(self.failing)} {verb}, from {causes}.")

    def beside(self) -> str:
        """What is beside the decided cases, in one sentence; empty where nothing is."""
        told = (
            (self.inexact, "less exact than the table of functions"),
            (self.document, "open in the documents"),
            (self.unsupported, "unsupported"),
            (self.observed, "that only had to survive"),
            (self.undecided, "undecided"),
        )
        parts = [f"{count(number)} {words}" for number, words in told if number]
        return f"Beside these: {', '.join(parts)}." if parts else ""


def share_text(part: int, whole: int) -> str:
    """A part of a whole in percent, cut off: 99.96 % is 99.9 %; empty where the whole is nothing."""
    tenths = part * 1000 // whole if whole else 0
    return f"{tenths // 10}.{tenths % 10} %" if whole else ""


def decide(cases: Iterable[CaseResult], classes: Sequence[FailureClass]) -> Decided:
    """Count the cases of a run once; `classes` are its causes."""
    verdicts = ((result.operator.unversioned, result.verdict) for result in cases)
    return decide_verdicts(verdicts, sum(any(case.fails for case in failures.cases) for failures in classes))


def decide_verdicts(verdicts: Iterable[tuple[str, str]], causes: int) -> Decided:
    """The same of operators' names and verdicts, one pair for each case."""
    by_name: dict[str, set[str]] = defaultdict(set)
    counts = Counter[str]()
    for name, verdict in verdicts:
        by_name[name].add(verdict)
        counts[verdict] += 1
    stand = Counter(standing(found) for found in by_name.values())
    failing = count_failing(counts)
    beside = sum(counts[each] for each in ("pass", "inexact", "document", "unsupported", "observed"))
    return Decided(
        len(by_name),
        stand["without"],
        stand["not offered"],
        counts["pass"],
        failing,
        causes,
        counts["inexact"],
        counts["document"],
        counts["unsupported"],
        counts["observed"],
        counts.total() - failing - beside,
    )


Standing = Literal["with", "without", "not offered"]
"""Whether an operator is there, with a failure or without one."""
_ANSWERED = frozenset({"pass", "inexact", "document"})
"""Verdicts of operators that a runtime has."""


def standing(verdicts: Set[str]) -> Standing:
    """How an operator stands by the verdicts of its cases."""
    if verdicts & set(FAILING):
        return "with"
    return "without" if verdicts & _ANSWERED else "not offered"


_HEADINGS: dict[Standing, str] = {
    "with": "with a failure",
    "without": "without a failure",
    "not offered": "unsupported",
}
MOST_NAMED, MOST_IN_SIGHT = 300, 16
"""So many operators of a group are named, and so many of them without asking for more."""


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
    def in_sight(self) -> tuple[OperatorStanding, ...]:
        return self.named[:MOST_IN_SIGHT]

    @property
    def folded(self) -> tuple[OperatorStanding, ...]:
        """Those that are named where somebody asks for more."""
        return self.named[MOST_IN_SIGHT:]

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
    for result in cases:
        counts[result.operator.unversioned][result.verdict] += 1
        one_of[result.operator.unversioned] = result.operator
    notes: dict[str, int] = {}
    for found in classes:
        for operator in found.operators if found.fails else ():
            notes.setdefault(operator.unversioned, found.number)
    bare = Counter(operator.name for operator in one_of.values())
    groups: dict[Standing, list[OperatorStanding]] = {name: [] for name in _HEADINGS}
    for name, operator in one_of.items():
        shown = operator.name if bare[operator.name] == 1 else name
        link, note = operator_link(operator, of), notes.get(name, 0)
        groups[standing(counts[name].keys())].append(OperatorStanding(shown, link, dict(counts[name]), note))
    return tuple(
        StandingGroup(heading, tuple(sorted(groups[name], key=lambda group: (group.note, group.name))))
        for name, heading in _HEADINGS.items()
        if groups[name]
    )
