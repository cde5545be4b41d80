"""The failure classes of a run, in the order to fix them.

What tells a cause, the first that does: an entry that explains the cases; what the runtime said when it
refused or died; an experiment that was made on it (`diagnosis.json`), which may say that the documents allow
the answer; for invalid calls that were answered, the rule; a run of the same runtime that optimises less and
passes. Only what is left is divided by conditions that go with failing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.judging.kept_diagnosis import (
    DiagnosedCause,
    Diagnosis,
)
from conformance.judging.known_causes import KnownCause, Suspicion
from conformance.judging.refusals import sentence
from conformance.judging.verdicts import ACCEPTED_INVALID, BESIDE, LOST, REJECTED_VALID
from conformance.suite.where_shown import ORDER
from opcert.vocabulary.names import OperatorName
from reports.causes.conditions import Condition, Observation, separate
from reports.causes.failure_class import (
    TIER_OF,
    TIERS,
    FailureClass,
    Kind,
    Told,
    failure_kind,
    shows_rank,
    smallness,
)
from reports.causes.kept_findings import diagnosis_of
from reports.causes.operator_use import Use
from reports.causes.optimisation import by_optimisation, passing_without
from reports.causes.spoken_failures import said_form
from reports.results.case_facts import CONSTRAINT, feature_names
from reports.results.case_results import CaseResult, Results
from reports.results.others import OtherRun, hold_beside

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
    versions = {result.operator for result in failing}
    passing = (
        operator_case
        for operator_case in operator_cases
        if operator_case.operator in versions
        and operator_case.verdict == "pass"
        and comparable(kind, operator_case)
    )
    return [*failing, *passing]


def _separated(
    failing: Sequence[CaseResult], judged: Sequence[CaseResult]
) -> Iterator[tuple[tuple[Condition, ...], frozenset[int]]]:
    observations = [
        Observation(str(result.operator), result.features, place < len(failing))
        for place, result in enumerate(judged)
    ]
    names = feature_names(result.features for result in failing)
    for separation in separate(observations, names):
        yield separation.conditions, separation.covered


def _tells(
    members: Sequence[CaseResult], conditions: Sequence[Condition], operator_cases: Sequence[CaseResult]
) -> bool:
    """Whether conditions say something of these cases, where others that fulfil them fail in another way."""
    versions = {member.operator for member in members}
    alike = sum(
        operator_case.fails
        and operator_case.operator in versions
        and all(one.holds(operator_case.features) for one in conditions)
        for operator_case in operator_cases
    )
    return 4 * len(members) >= alike


def operators_of(cases: Sequence[CaseResult]) -> tuple[OperatorName, ...]:
    """The operator versions of cases, newest last within an operator."""
    return tuple(sorted({result.operator for result in cases}))


def by_operator(cases: Sequence[CaseResult]) -> dict[tuple[str, str], list[CaseResult]]:
    """Cases by operator, whatever its version."""
    found: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    for result in cases:
        found[result.operator.domain, result.operator.name].append(result)
    return found


_SEPARATOR = "; "
_NUMBER = re.compile(r" of [0-9.e+-]+")
SPOKEN: frozenset[Kind] = frozenset({"crash", REJECTED_VALID})
"""Kinds of failure of which the runtime, or its end, says something itself."""


@lru_cache(maxsize=16)
def classes_of(results: Results) -> tuple[FailureClass, ...]:
    """The failure classes of a run, found once."""
    return find_classes(
        results.cases, results.known, diagnosis_of(results), results.others, results.suspected
    )


@lru_cache(maxsize=16)
def _by_case(results: Results) -> Mapping[str, FailureClass]:
    return {str(case.id): each for each in classes_of(results) for case in each.cases}


def class_of(results: Results, case: CaseResult) -> FailureClass | None:
    """The class that a case is in; None where it does not fail."""
    return _by_case(results).get(str(case.id))


def find_classes(
    cases: Sequence[CaseResult],
    known: Sequence[KnownCause] = (),
    diagnosis: Diagnosis | None = None,
    others: Sequence[OtherRun] = (),
    suspected: Sequence[Suspicion] = (),
) -> tuple[FailureClass, ...]:
    """Divide the failing cases into classes, in the order to fix them; each is in exactly one."""
    failing = {str(result.id): result for result in cases if result.deviates}
    classes = list(_claimed(failing, known))
    classes += _suspected(failing, suspected)
    claimed = {str(case.id) for failures in classes for case in failures.cases}
    left = [result for name, result in failing.items() if name not in claimed]
    every = by_operator(cases)
    classes += _by_message(left, every)
    classes += _by_rule([result for result in left if result.verdict == ACCEPTED_INVALID])
    wrong = {str(result.id): result for result in left if result.verdict == "mismatch"}
    causes = () if diagnosis is None else diagnosis.causes
    classes += _by_experiment(wrong, causes)
    allowed = set(() if diagnosis is None else diagnosis.allowed)
    beside = [result for result in left if result.verdict in BESIDE]
    classes += _by_documents([result for result in beside if str(result.id) in allowed])
    classes += _by_judge([result for result in beside if str(result.id) not in allowed])
    classes += _by_optimisation(_unshown(wrong, classes), others)
    classes += _by_condition(list(_unshown(wrong, classes).values()), every)
    shown: dict[frozenset[str], DiagnosedCause] = {}
    for cause in causes:
        shown.setdefault(frozenset(cause.cases), cause)
    told = [_with_experiments(failures, shown) for failures in classes]
    return _numbered([_with_others(failures, others) for failures in told], cases)


def _unnumbered(members: Sequence[CaseResult], told: Told, kind: Kind | None = None) -> FailureClass:
    """A class that has no number yet; without a kind it is of the worst of its cases."""
    worst = _worst_kind(members) if kind is None else kind
    return FailureClass(0, worst, operators_of(members), None, tuple(members), told=told)


def _claimed(failing: Mapping[str, CaseResult], known: Iterable[KnownCause]) -> Iterable[FailureClass]:
    """One class for each entry that explains cases; the first entry that claims a case has it."""
    taken: set[str] = set()
    for entry in known:
        members = tuple(
            failing[each] for each in dict.fromkeys(entry.cases) if each in failing and each not in taken
        )
        taken.update(str(member.id) for member in members)
        failing_ones = tuple(member for member in members if member.fails)
        for alike in (failing_ones, tuple(member for member in members if not member.fails)):
            if alike:
                found = _unnumbered(alike, "entry")
                said = _sentence(min(alike, key=smallness)) if found.kind in SPOKEN else ""
                yield replace(found, known=entry, said=said)


def _worst_kind(cases: Sequence[CaseResult]) -> Kind:
    kinds = [kind for kind in map(failure_kind, cases) if kind is not None]
    return min(kinds, key=lambda kind: TIERS.index(TIER_OF[kind]))


def _suspected(failing: Mapping[str, CaseResult], suspected: Iterable[Suspicion]) -> Iterable[FailureClass]:
    """Wrong answers that several entries reproduce alike, and those of which nobody tried an entry."""
    for suspicion in suspected:
        members = tuple(failing[name] for name in suspicion.cases if name in failing and failing[name].fails)
        if members:
            yield replace(_unnumbered(members, suspicion.kind), suspects=suspicion.causes)


def _by_message(
    left: Sequence[CaseResult], every: Mapping[tuple[str, str], Sequence[CaseResult]]
) -> Iterable[FailureClass]:
    """Refusals by what they say, across operators; lost processes by how they were lost, in one operator."""
    groups: dict[tuple[Kind, str, str], list[CaseResult]] = defaultdict(list)
    for result in left:
        operator = result.operator.unversioned
        if result.verdict == REJECTED_VALID:
            groups[REJECTED_VALID, "", said_form(result)].append(result)
        elif result.verdict in LOST:
            groups[result.verdict, operator, said_form(result)].append(result)
    for (kind, _, _), members in groups.items():
        names = by_operator(members)
        conditions = remark(kind, members, every[next(iter(names))]) if len(names) == 1 else None
        said = _sentence(min(members, key=smallness)) if kind in SPOKEN else ""
        yield replace(_unnumbered(members, "message", kind), conditions=conditions, said=said)


def _sentence(case: CaseResult) -> str:
    """The runtime's own sentence about a case, or how the process was lost."""
    row = case.row
    if row is None:
        return ""
    refused = case.verdict == REJECTED_VALID
    return sentence(row.message or row.reason or "") if refused else row.reason or ""


def _by_rule(failing: Sequence[CaseResult]) -> Iterable[FailureClass]:
    """Invalid input that is accepted: each rule is a class, whatever else the cases have in common."""
    groups: dict[tuple[str, str, str | None], list[CaseResult]] = defaultdict(list)
    for result in failing:
        groups[result.operator.domain, result.operator.name, result.constraint].append(result)
    for (_, _, rule), members in groups.items():
        conditions = None if rule is None else (Condition(CONSTRAINT, (rule,)),)
        found = _unnumbered(members, "nothing" if rule is None else "rule", ACCEPTED_INVALID)
        yield replace(found, conditions=conditions)


def _by_experiment(
    wrong: Mapping[str, CaseResult], causes: Sequence[DiagnosedCause]
) -> Iterable[FailureClass]:
    """Wrong answers by what experiments on the runtime showed."""
    for cause in causes:
        members = tuple(wrong[name] for name in cause.cases if name in wrong)
        if members and not cause.told:
            yield replace(_unnumbered(members, "experiment"), shown=cause)


def _by_documents(allowed: Sequence[CaseResult]) -> Iterable[FailureClass]:
    """Answers that the documents allow and a case does not, one class for each operator."""
    for members in by_operator(allowed).values():
        yield _unnumbered(members, "allowed", "document")


def _by_judge(beside: Sequence[CaseResult]) -> Iterable[FailureClass]:
    """What stands beside the failures by operator: by the passage in doubt, or by how exact it is."""
    groups: dict[tuple[str, str, Kind, str], list[CaseResult]] = defaultdict(list)
    for result in beside:
        kind: Kind = "inexact" if result.verdict == "inexact" else "document"
        said = (result.row.reason if result.row is not None else None) or ""
        told = said.partition(_SEPARATOR)[0] if kind == "inexact" else said.rpartition(_SEPARATOR)[2]
        groups[result.operator.domain, result.operator.name, kind, _NUMBER.sub("", told)].append(result)
    for (_, _, kind, said), members in groups.items():
        yield replace(_unnumbered(members, "judge", kind), said=said)


def _unshown(wrong: Mapping[str, CaseResult], classes: Sequence[FailureClass]) -> Mapping[str, CaseResult]:
    shown = {str(case.id) for failures in classes for case in failures.cases}
    return {name: result for name, result in wrong.items() if name not in shown}


def _by_optimisation(wrong: Mapping[str, CaseResult], others: Sequence[OtherRun]) -> Iterable[FailureClass]:
    """Wrong answers that are right where the same runtime optimises less, by the operators in a row."""
    for _, members in by_optimisation(wrong, others):
        yield _unnumbered(members, "optimisation")


def _with_experiments(found: FailureClass, shown: Mapping[frozenset[str], DiagnosedCause]) -> FailureClass:
    """The class with what experiments showed of exactly its cases; `shown` has causes by their cases."""
    if not shown:
        return found
    return replace(found, shown=shown.get(frozenset(str(result.id) for result in found.cases), found.shown))


def _with_others(found: FailureClass, others: Sequence[OtherRun]) -> FailureClass:
    """The class with what other runtimes, and the same one that optimises less, make of its cases."""
    beside = hold_beside([str(result.id) for result in found.cases], others)
    return replace(found, beside=beside, unoptimised=passing_without(found.cases, others))


def _by_condition(
    failing: Sequence[CaseResult], every: Mapping[tuple[str, str], Sequence[CaseResult]]
) -> Iterable[FailureClass]:
    """Wrong answers by the conditions that go with them; what has none is one class of its operator."""
    for name, members in by_operator(failing).items():
        by_kind: dict[Kind, list[CaseResult]] = defaultdict(list)
        for member in members:
            kind = failure_kind(member)
            if kind is not None:
                by_kind[kind].append(member)
        for kind, alike in by_kind.items():
            for found in associate(kind, alike, every[name]):
                made = _unnumbered(
                    found.cases, "nothing" if found.conditions is None else "association", kind
                )
                yield replace(made, conditions=found.conditions)


def _numbered(classes: list[FailureClass], cases: Sequence[CaseResult]) -> tuple[FailureClass, ...]:
    """The classes in the order to fix them, with how many cases fulfil the conditions of each."""
    judged: dict[OperatorName, list[CaseResult]] = defaultdict(list)
    for result in cases:
        if result.fails or result.verdict == "pass":
            judged[result.operator].append(result)
    ordered = sorted(classes, key=fixing_order)
    numbered = [replace(failures, number=number) for number, failures in enumerate(ordered, 1)]
    class_of = {str(case.id): failures.number for failures in numbered for case in failures.cases}
    return tuple(_with_fit(failures, judged, class_of) for failures in numbered)


def fixing_order(each: FailureClass) -> tuple[int, int, bool, Use, float, int, str]:
    """What most users meet comes first; of that what loses most, then what is used most and brings most."""
    use = each.use
    return (
        shows_rank(each.shows) if each.blames else len(ORDER) + 1,
        TIERS.index(each.tier),
        each.told == "nothing",
        Use(-use.models, -use.nodes),
        -each.brings,
        -len(each.cases),
        min(str(case.id) for case in each.cases),
    )


def _with_fit(
    found: FailureClass, judged: Mapping[OperatorName, Sequence[CaseResult]], class_of: Mapping[str, int]
) -> FailureClass:
    if found.conditions is None:
        return found
    fulfilling, elsewhere = 0, Counter[int]()
    for result in (case for operator in found.operators for case in judged[operator]):
        if not comparable(found.kind, result):
            continue
        if all(condition.holds(result.features) for condition in found.conditions):
            fulfilling += 1
            number = class_of.get(str(result.id), found.number)
            if number != found.number:
                elsewhere[number] += 1
    return replace(found, fulfilling=fulfilling, elsewhere=dict(sorted(elsewhere.items())))
