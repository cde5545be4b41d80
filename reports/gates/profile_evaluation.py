"""Whether a run meets a profile, and every reason why it does not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from conformance.judging.verdicts import FAILING, UNCOUNTED, word
from conformance.recording.faults import FaultFinder, count_threads
from conformance.recording.suite_ordered import cases_in_order
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from reports.causes.followed_readings import fault_text
from reports.causes.lenient_passes import lenient_passes
from reports.gates.profiles import Profile, Waiver
from reports.results.case_results import CaseResult, Results, in_other_forms
from reports.results.standing import OWN, SuiteStanding
from reports.results.told_facts import mapping
from reports.text.phrasing import plural


@dataclass(frozen=True)
class WaiverUse:
    """A waiver and the failing cases that it names; an expired one covers none of them."""

    waiver: Waiver
    expired: bool
    cases: tuple[str, ...]

    @property
    def covered(self) -> tuple[str, ...]:
        return () if self.expired else self.cases


@dataclass(frozen=True)
class ProfileResult:
    """What a profile says to a run: met where there is no reason against it.

    `failing` counts the demanded cases that fail, `left_out` those that its restriction leaves out, and
    `whole` has the operator versions of which it leaves out all.
    """

    profile: Profile
    reasons: tuple[str, ...]
    demanded: int
    waivers: tuple[WaiverUse, ...]
    failing: int = 0
    left_out: int = 0
    whole: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        return not self.reasons

    @property
    def waived(self) -> frozenset[str]:
        """The failing cases that some waiver covers."""
        return frozenset(case for waiver in self.waivers for case in waiver.covered)


def evaluate(profile: Profile, results: Results, on: date, standing: SuiteStanding = OWN) -> ProfileResult:
    """Hold a run against a profile; waivers that expired before the day `on` cover nothing.

    `standing` says whose the suite is. Raises InternalError where the profile is not settled.
    """
    if not profile.is_settled:
        raise InternalError("the profile is not settled", got=profile.profile)
    asked = _asked(profile, results)
    demanded = _demanded(profile, results, asked)
    waivers = tuple(_use(waiver, demanded, on) for waiver in profile.waivers)
    waived = frozenset(case for waiver in waivers for case in waiver.covered)
    reasons = [*_record_reasons(profile, results, demanded)]
    reasons += _arithmetic_reasons(profile, results)
    if profile.suite == "released":
        departing = [OperatorName.parse(departure.operator) for departure in standing.departures]
        wanted = {str(operator) for operator in departing if profile.demands_operator(operator)}
        reasons += standing.contradicts_release(wanted)
    domains = {operator.domain for operator in results.by_operator}
    for text in profile.operators:
        domain = text.removesuffix("::*")
        if domain != text and domain not in domains:
            reasons.append(f"{text}: the suite has no operator of {domain}")
    of_suite = [operator for operator in results.by_operator if profile.demands_operator(operator)]
    kept = {result.operator for result in demanded}
    whole = {result.operator for result in asked} - kept
    for operator in dict.fromkeys([*profile.named_operators, *of_suite]):
        own = [result for result in demanded if result.operator == operator]
        if operator in whole and _defaults(results.suite, operator) is None:
            reasons.append(f"{operator}: the suite does not say which attributes have a default")
            continue
        if operator in whole and not (profile.is_written and operator in profile.named_operators):
            continue
        if not own:
            reasons.append(f"{operator}: the suite has no case that the profile demands")
            continue
        reasons += _operator_reasons(profile, operator, own, waived)
    if profile.lenient == "none":
        reasons += _lenient_reasons(replace(results, cases=tuple(demanded)))
    for use in waivers:
        if use.expired and use.cases:
            reasons.append(
                f"the waiver for {use.waiver.cases} ({use.waiver.reason}) expired on {use.waiver.expires}"
            )
    if demanded and not any(result.verdict == "pass" for result in demanded):
        reasons.append("no demanded case passes")
    failing, left_out = sum(result.fails for result in demanded), len(asked) - len(demanded)
    left = tuple(map(str, sorted(whole)))
    return ProfileResult(profile, tuple(reasons), len(demanded), waivers, failing, left_out, left)


def _asked(profile: Profile, results: Results) -> list[CaseResult]:
    return [
        result
        for result in results.cases
        if profile.demands(result.operator, result.id.family, result.element_type)
    ]


_UNSTATED_FORMS = frozenset(("dynamic", "again", "strided"))
"""Forms whose models leave extents open, or have a value between two nodes of which no type is declared."""


def _demanded(profile: Profile, results: Results, asked: list[CaseResult]) -> list[CaseResult]:
    """All of them, or those that leave nothing unsaid, as they went in the forms that do not either."""
    if profile.restriction == "none":
        return asked
    defaults = {operator: _defaults(results.suite, operator) for operator in results.by_operator}
    return [
        in_other_forms(result, _UNSTATED_FORMS)
        for result in asked
        if _is_explicit(results.suite, str(result.id), defaults[result.operator])
    ]


def _defaults(suite: Suite, operator: OperatorName) -> frozenset[str] | None:
    """The attributes of an operator that have a default; None where the suite says nothing of attributes."""
    told = mapping(mapping(suite.facts.get("operators")).get(str(operator))).get("attributes")
    if not isinstance(told, dict):
        return None
    return frozenset(name for name, each in told.items() if mapping(each).get("default") is not None)


def _is_explicit(suite: Suite, case_id: str, defaults: frozenset[str] | None) -> bool:
    """Whether a case gives every attribute that has a default, to one node of tensors alone.

    Of such a node every value is an input or output of the model, which declares its type. Values in bodies,
    and between a sequence's tensors and the node, are declared nowhere.
    """
    case = suite.case(case_id, call_alone=True)
    return case.is_plain and defaults is not None and defaults <= case.attributes.keys()


def _arithmetic_reasons(profile: Profile, results: Results) -> list[str]:
    """That the answers were judged by another arithmetic than the one that is demanded."""
    wanted, judged = profile.demanded_arithmetic, results.suite.arithmetic
    if wanted == judged:
        return []
    return [f"the profile demands {wanted.words}, and the cases are of {judged.words}"]


def _lenient_reasons(results: Results) -> list[str]:
    return [f"a lenient pass: {lenient_pass.text}" for lenient_pass in lenient_passes(results)]


def _use(waiver: Waiver, demanded: Sequence[CaseResult], on: date) -> WaiverUse:
    named = tuple(str(result.id) for result in demanded if result.fails and waiver.covers(result))
    return WaiverUse(waiver, waiver.expires < on, named)


def _record_reasons(profile: Profile, results: Results, demanded: Sequence[CaseResult]) -> list[str]:
    reasons = []
    if results.record.partial:
        reasons.append("the record is partial: the run did not come to its end")
    operators = {str(result.operator) for result in demanded}
    faults = results.record.faults if profile.restriction == "none" else _faults_between(results, demanded)
    reasons += [
        f"fault of the run: {fault_text(fault)}"
        for fault in faults
        if fault.get("operator") is None or fault.get("operator") in operators
    ]
    return reasons


def _faults_between(results: Results, demanded: Sequence[CaseResult]) -> list[Mapping[str, Any]]:
    """The faults that the rows which count show, and those that no case is to blame for."""
    cases = {str(result.id) for result in demanded}
    finder = FaultFinder(count_threads(results.record.header))
    for _, rows in cases_in_order(results.record.results):
        counted = [row for row in rows if row.case in cases and row.form not in _UNSTATED_FORMS]
        for row in counted:
            finder.see(row)
        finder.compare([row for row in counted if row.response != "none"])
    return [*finder.faults(), *(fault for fault in results.record.faults if fault.get("operator") is None)]


def _operator_reasons(
    profile: Profile, operator: OperatorName, cases: Sequence[CaseResult], waived: frozenset[str]
) -> list[str]:
    by_verdict: dict[str, list[CaseResult]] = defaultdict(list)
    for result in cases:
        if str(result.id) not in waived:
            by_verdict[result.verdict].append(result)
    reasons = []
    demanded: tuple[str, ...] = (*FAILING, *UNCOUNTED)
    for verdict in (*demanded, "inexact") if profile.inexact == "none" else demanded:
        own = by_verdict[verdict]
        if own:
            reasons.append(f"{operator}: {plural(len(own), 'case')} {word(verdict)}, such as {own[0].id}")
    unsupported = by_verdict["unsupported"]
    if unsupported and not _may_lack(profile, len(unsupported) == len(cases)):
        what = "no case" if len(unsupported) == len(cases) else f"{plural(len(unsupported), 'case')} not"
        reasons.append(f"{operator}: {what} supported, such as {unsupported[0].id}")
    return reasons


def _may_lack(profile: Profile, whole: bool) -> bool:
    return profile.unsupported == "case" or (profile.unsupported == "operator" and whole)
