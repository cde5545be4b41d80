"""Failure classes: failing cases of one cause, as far as that can be told, in the order to fix them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.judging.refusals import signature
from opcert.vocabulary.names import OperatorName
from reports.case_results import CaseResult, Results
from reports.conditions import Condition, Observation, separate
from reports.failure_kinds import (
    DIFFERENCES,
    SLIGHTLY,
    TIER_OF,
    TIERS,
    UNEXPLAINED,
    VERBS,
    Kind,
    Tier,
)
from reports.features import CONSTRAINT, feature_names
from reports.type_order import type_rank


@dataclass(frozen=True)
class FailureClass:
    """Failing cases of one operator (in one or more versions) that fail in one way under the same conditions.

    `conditions` is None where no set of conditions separates them, and empty where the cases fail whatever
    the conditions. `fulfilling` counts the cases of those versions that were judged and fulfil the
    conditions; those among them that fail otherwise are counted in `elsewhere`, by the number of their class.
    """

    number: int
    kind: Kind
    operators: tuple[OperatorName, ...]
    conditions: tuple[Condition, ...] | None
    cases: tuple[CaseResult, ...]
    fulfilling: int = 0
    elsewhere: Mapping[int, int] | None = None

    @property
    def tier(self) -> Tier:
        # A lost process stays at the top, explained or not.
        if self.conditions is None and self.kind not in ("crash", "timeout"):
            return UNEXPLAINED
        return TIER_OF[self.kind]

    @property
    def verb(self) -> str:
        """What the cases do, as narrowly as it is true of them all."""
        rows = [each.row for each in self.cases if each.row is not None]
        if self.kind == "shape":
            differences = {row.difference for row in rows}
            return (
                f"wrong {DIFFERENCES[differences.pop() or '']}" if len(differences) == 1 else VERBS["shape"]
            )
        limits = {row.seconds for row in rows}
        if self.kind == "timeout" and len(limits) == 1:
            return f"no answer in {limits.pop():g} s"
        return VERBS[self.kind]

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that the process died of."""
        return tuple(sorted({each.row.signal for each in self.cases if each.row and each.row.signal}))

    @property
    def smallest(self) -> CaseResult:
        """The case with the fewest elements, attributes and dimensions."""
        return min(self.cases, key=smallness)


def smallness(case: CaseResult) -> tuple[tuple[int, int, int], tuple[int, int, int], str]:
    """Orders cases from small to large, and those of one size by how common their element type is."""
    return case.size, type_rank(case.element_type), str(case.id)


def failure_kind(case: CaseResult) -> Kind | None:
    """In which way a case fails; None where it does not."""
    match case.verdict:
        case "crash" | "timeout" | "rejected_valid" | "accepted_invalid":
            return case.verdict
        case "mismatch":
            if case.wrong_shape:
                return "shape"
            ratio = case.ratio
            return "inexact" if ratio is not None and ratio < SLIGHTLY else "values"
        case _:
            return None


@lru_cache(maxsize=16)
def classes_of(results: Results) -> tuple[FailureClass, ...]:
    """The failure classes of a run, found once."""
    return find_classes(results.cases)


def find_classes(cases: Sequence[CaseResult]) -> tuple[FailureClass, ...]:
    """Divide the failing cases into classes, in the order to fix them; each is in exactly one."""
    by_cause: dict[tuple[str, str, Kind, str], list[CaseResult]] = defaultdict(list)
    by_operator: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    judged: dict[OperatorName, list[CaseResult]] = defaultdict(list)
    for each in cases:
        kind = failure_kind(each)
        key = (each.operator.domain, each.operator.name)
        by_operator[key].append(each)
        if kind is not None or each.verdict == "pass":
            judged[each.operator].append(each)
        if kind is not None:
            by_cause[(*key, kind, _complaint(kind, each))].append(each)
    classes: list[FailureClass] = []
    for (domain, name, kind, _), failing in by_cause.items():
        classes += _explain(kind, failing, by_operator[(domain, name)])
    classes.sort(key=_fixing_order)
    numbered = [replace(each, number=number) for number, each in enumerate(classes, 1)]
    class_of = {str(case.id): each.number for each in numbered for case in each.cases}
    return tuple(_with_fit(each, judged, class_of) for each in numbered)


def _complaint(kind: Kind, case: CaseResult) -> str:
    """What a refusal says, in the form that all of one cause share."""
    if kind != "rejected_valid" or case.row is None:
        return ""
    return signature(str(case.row.error), case.row.message or "")


def _explain(kind: Kind, failing: list[CaseResult], operator_cases: list[CaseResult]) -> list[FailureClass]:
    versions = {each.operator for each in failing}
    judged = failing + [
        each
        for each in operator_cases
        if each.operator in versions and each.verdict == "pass" and _comparable(kind, each)
    ]
    if kind == "accepted_invalid":
        return _by_rule(failing)
    observations = [
        Observation(str(each.operator), each.features, failure_kind(each) == kind) for each in judged
    ]
    names = feature_names(each.features for each in failing)
    left = set(range(len(failing)))
    found = []
    for each in separate(observations, names):
        members = tuple(judged[position] for position in sorted(each.covered))
        if not _tells(members, each.conditions, operator_cases):
            continue
        left -= each.covered
        found.append(FailureClass(0, kind, _operators(members), each.conditions, members))
    by_version: dict[OperatorName, list[CaseResult]] = defaultdict(list)
    for position in sorted(left):
        by_version[judged[position].operator].append(judged[position])
    for members_left in by_version.values():
        members = tuple(members_left)
        found.append(FailureClass(0, kind, _operators(members), None, members))
    return found


def _tells(
    members: Sequence[CaseResult], conditions: Sequence[Condition], operator_cases: Sequence[CaseResult]
) -> bool:
    """Whether conditions say something of these cases, where others that fulfil them fail in another way."""
    versions = {each.operator for each in members}
    alike = sum(
        each.fails and each.operator in versions and all(one.holds(each.features) for one in conditions)
        for each in operator_cases
    )
    return 4 * len(members) >= alike and (len(members) > 1 or alike == 1)


def _by_rule(failing: list[CaseResult]) -> list[FailureClass]:
    """Invalid input that is accepted: each rule is a class, whatever else the cases have in common."""
    by_rule: dict[str | None, list[CaseResult]] = defaultdict(list)
    for each in failing:
        by_rule[each.constraint].append(each)
    return [
        FailureClass(
            0,
            "accepted_invalid",
            _operators(tuple(cases)),
            None if rule is None else (Condition(CONSTRAINT, (rule,)),),
            tuple(cases),
        )
        for rule, cases in by_rule.items()
    ]


def _comparable(kind: Kind, case: CaseResult) -> bool:
    """Whether a case could have failed in this way at all: a valid call is never accepted wrongly."""
    if kind == "accepted_invalid":
        return case.demand == "refuse"
    return kind in ("crash", "timeout") or case.demand == "answer"


def _operators(cases: tuple[CaseResult, ...]) -> tuple[OperatorName, ...]:
    return tuple(sorted({each.operator for each in cases}))


def _fixing_order(each: FailureClass) -> tuple[int, bool, int, int, int, str]:
    unexplained = each.conditions is None
    return (
        TIERS.index(each.tier),
        unexplained,
        -len(each.operators),
        len(each.conditions or ()),
        -len(each.cases),
        min(str(case.id) for case in each.cases),
    )


def _with_fit(
    found: FailureClass, judged: Mapping[OperatorName, Sequence[CaseResult]], class_of: Mapping[str, int]
) -> FailureClass:
    if found.conditions is None:
        return found
    fulfilling = 0
    elsewhere: dict[int, int] = defaultdict(int)
    for each in (case for operator in found.operators for case in judged[operator]):
        if not _comparable(found.kind, each):
            continue
        if all(condition.holds(each.features) for condition in found.conditions):
            fulfilling += 1
            number = class_of.get(str(each.id), found.number)
            if number != found.number:
                elsewhere[number] += 1
    return replace(found, fulfilling=fulfilling, elsewhere=dict(sorted(elsewhere.items())))


def marked_features(found: FailureClass) -> frozenset[str]:
    """The names that a class's conditions speak of, so that a case can mark them."""
    return frozenset(each.feature for each in found.conditions or ())
