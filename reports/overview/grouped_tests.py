"""Tests as continuous integration counts them: one for each case, each operator version, or each cause."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import BESIDE, HARNESS_ERROR, word
from reports.causes.failure_classes import classes_of
from reports.overview.cause_paragraphs import cause_paragraphs
from reports.results.case_results import CaseResult, Results
from reports.text.phrasing import count, listed, plural

CAUSES, OPERATORS = "causes", "operators"
_MOST_NAMED = 200
"""So many ids of cases stand in one test."""


@dataclass(frozen=True)
class GroupedTest:
    """One test: its suite and name, whether it `failed` or was `skipped`, a line and the details."""

    suite: str
    name: str
    failed: bool
    skipped: bool
    message: str
    details: str
    seconds: float


def grouped_tests(results: Results) -> Iterator[GroupedTest]:
    """The tests of a run that is told by cause or by operator, its causes first."""
    if results.grouping == "cause":
        yield from cause_tests(results)
    causes = {str(case.id): each.number for each in classes_of(results) for case in each.cases}
    for operator, cases in results.by_operator.items():
        counted = Counter(each.verdict for each in cases)
        said = listed([f"{count(number)} {word(verdict)}" for verdict, number in counted.most_common()])
        failing = [each for each in cases if each.fails]
        numbers = sorted({causes[str(each.id)] for each in failing})
        # By cause what fails has its own tests: here it is told what passes.
        failed = (bool(failing) and results.grouping == "operator") or counted[HARNESS_ERROR] > 0
        message = f"{plural(len(cases), 'case')}: {said}"
        if numbers:
            message += f"; causes {', '.join(map(str, numbers))}"
        details = "\n".join([message, *_names(failing)])
        skipped = not failing and not any(counted[each] for each in ("pass", "observed", *BESIDE))
        yield GroupedTest(OPERATORS, str(operator), failed, skipped, message, details, _seconds(cases))


def cause_tests(results: Results) -> Iterator[GroupedTest]:
    """A test for each cause, under a name that stays while the cause does: no number, no count is in it."""
    names: Counter[str] = Counter()
    for told in cause_paragraphs(results):
        cases = told.found.cases
        names[told.name] += 1
        name = told.name if names[told.name] == 1 else f"{told.name} ({names[told.name]})"
        details = "\n".join([*told.remarks, told.command, "", *_names(cases)])
        failed = any(each.fails for each in cases)
        yield GroupedTest(CAUSES, name, failed, not failed, told.head, details, _seconds(cases))


def _names(cases: Sequence[CaseResult]) -> list[str]:
    names = [f"{each.id}: {word(each.verdict)}" for each in cases[:_MOST_NAMED]]
    left = len(cases) - len(names)
    return [*names, f"and {count(left)} more"] if left else names


def _seconds(cases: Sequence[CaseResult]) -> float:
    return math.fsum(row.seconds for each in cases for row in each.rows)
