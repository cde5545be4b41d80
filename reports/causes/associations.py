"""Conditions that go with failures: an association of passing and failing cases, and no experiment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import ACCEPTED_INVALID, LOST
from opcert.vocabulary.names import OperatorName
from reports.causes.conditions import Condition, Observation, separate
from reports.causes.failure_kinds import Kind
from reports.results.case_results import CaseResult
from reports.results.features import feature_names

FEWEST = 3
"""From fewer failures no condition is said: something singles out every case."""


@dataclass(frozen=True)
class Associated:
    """Failing cases with the conditions that separate them; None where none do."""

    conditions: tuple[Condition, ...] | None
    cases: tuple[CaseResult, ...]


def associate(
    kind: Kind, failing: Sequence[CaseResult], operator_cases: Sequence[CaseResult]
) -> Iterator[Associated]:
    """Divide failing cases of one operator by conditions; the rest, if any, comes last and has none."""
    judged = _judged(kind, failing, operator_cases)
    left = set(range(len(failing)))
    for conditions, covered in _separated(failing, judged):
        members = tuple(judged[position] for position in sorted(covered))
        if len(members) < FEWEST or not _tells(members, conditions, operator_cases):
            continue
        left -= covered
        yield Associated(conditions, members)
    if left:
        yield Associated(None, tuple(judged[position] for position in sorted(left)))


def remark(
    kind: Kind, failing: Sequence[CaseResult], operator_cases: Sequence[CaseResult]
) -> tuple[Condition, ...] | None:
    """Conditions that hold for all of these cases and for few that pass; None where there are none."""
    if len(failing) < FEWEST:
        return None
    judged = _judged(kind, failing, operator_cases)
    for conditions, _ in _separated(failing, judged):
        if conditions and all(one.holds(case.features) for case in failing for one in conditions):
            return conditions
    return None


def comparable(kind: Kind, case: CaseResult) -> bool:
    """Whether a case could have failed in this way at all: a valid call is never accepted wrongly."""
    if kind == ACCEPTED_INVALID:
        return case.demand == "refuse"
    return kind in LOST or case.demand == "answer"


def _judged(
    kind: Kind, failing: Sequence[CaseResult], operator_cases: Sequence[CaseResult]
) -> list[CaseResult]:
    """The failing cases, and the passing ones of their versions that could have failed so."""
    versions = {each.operator for each in failing}
    passing = (
        each
        for each in operator_cases
        if each.operator in versions and each.verdict == "pass" and comparable(kind, each)
    )
    return [*failing, *passing]


def _separated(
    failing: Sequence[CaseResult], judged: Sequence[CaseResult]
) -> Iterator[tuple[tuple[Condition, ...], frozenset[int]]]:
    observations = [
        Observation(str(each.operator), each.features, place < len(failing))
        for place, each in enumerate(judged)
    ]
    names = feature_names(each.features for each in failing)
    for each in separate(observations, names):
        yield each.conditions, each.covered


def _tells(
    members: Sequence[CaseResult], conditions: Sequence[Condition], operator_cases: Sequence[CaseResult]
) -> bool:
    """Whether conditions say something of these cases, where others that fulfil them fail in another way."""
    versions = {each.operator for each in members}
    alike = sum(
        each.fails and each.operator in versions and all(one.holds(each.features) for one in conditions)
        for each in operator_cases
    )
    return 4 * len(members) >= alike


def operators_of(cases: Sequence[CaseResult]) -> tuple[OperatorName, ...]:
    """The operator versions of cases, newest last within an operator."""
    return tuple(sorted({each.operator for each in cases}))


def by_operator(cases: Sequence[CaseResult]) -> dict[tuple[str, str], list[CaseResult]]:
    """Cases by operator, whatever its version."""
    found: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    for each in cases:
        found[each.operator.domain, each.operator.name].append(each)
    return found
