"""The page of a run: what each section says, ready for the templates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version

from opcert.names import OperatorName
from reports.anchors import (
    class_anchor,
    class_cases_anchor,
    list_anchor,
    readings_anchor,
    verdict_anchor,
)
from reports.case_lists import Count, OperatorList, build_lists
from reports.case_views import CaseView, view_case
from reports.explanations import class_sentence
from reports.facts import Document, Finding, list_documents, list_findings, short_names
from reports.failure_classes import FailureClass, classes_of, marked_features, smallness
from reports.failure_kinds import TIERS
from reports.headline import Fact, list_facts, list_sentences, list_warnings, runtime_label
from reports.matrix import Matrix, build_matrix
from reports.readings import ReadingFollowed, fault_text, find_readings
from reports.results import Results
from reports.text import count, listed, plural
from reports.type_order import in_type_order
from reports.untested import Untested, find_untested
from reports.verdicts import GROUPS, WORST_FIRST, word


@dataclass(frozen=True)
class LedgerEntry:
    """A verdict and its number of cases."""

    verdict: str
    word: str
    number: int
    anchor: str


@dataclass(frozen=True)
class LedgerGroup:
    heading: str
    entries: tuple[LedgerEntry, ...]


@dataclass(frozen=True)
class ClassView:
    """A failure class in words, with its cases in full."""

    found: FailureClass
    anchor: str
    cases_anchor: str
    operators: str
    fit: str
    types: str
    resembles: str
    smallest: CaseView
    views: tuple[CaseView, ...]

    @property
    def number(self) -> int:
        return len(self.views)

    @property
    def all_cases(self) -> str:
        return f"All {plural(self.number, 'case')}" if self.number > 1 else "The only case"


@dataclass(frozen=True)
class TierView:
    heading: str
    why: str
    classes: tuple[ClassView, ...]


@dataclass(frozen=True)
class OperatorReadings:
    operator: str
    anchor: str
    readings: tuple[ReadingFollowed, ...]


@dataclass(frozen=True)
class VerdictIndex:
    verdict: str
    word: str
    number: int
    anchor: str
    parts: tuple[Count, ...]


class Page:
    """What the report of one run says; each section is put together when it is asked for."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.version = version("opcert")
        self.runtime = runtime_label(results.record)
        self.total = len(results.cases)

    @cached_property
    def classes(self) -> tuple[FailureClass, ...]:
        return classes_of(self.results)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return list_sentences(self.results, len(self.classes))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        return list_warnings(self.results)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return list_facts(self.results)

    @cached_property
    def ledger(self) -> tuple[LedgerGroup, ...]:
        counts = self.results.counts
        return tuple(
            LedgerGroup(
                group.heading,
                tuple(
                    LedgerEntry(each, word(each), counts[each], verdict_anchor(each))
                    for each in group.verdicts
                ),
            )
            for group in GROUPS
        )

    @cached_property
    def matrix(self) -> Matrix:
        return build_matrix(self.results.cases, self.classes)

    @cached_property
    def tiers(self) -> tuple[TierView, ...]:
        found = []
        for tier in TIERS:
            classes = tuple(_class_view(self.results, each) for each in self.classes if each.tier is tier)
            if classes:
                found.append(TierView(tier.heading, tier.why, classes))
        return tuple(found)

    @cached_property
    def faults(self) -> tuple[str, ...]:
        return tuple(fault_text(each) for each in self.results.record.faults)

    @cached_property
    def readings(self) -> tuple[OperatorReadings, ...]:
        found = []
        for operator in self.results.by_operator:
            readings = find_readings(self.results, operator)
            if readings:
                found.append(OperatorReadings(str(operator), readings_anchor(operator), readings))
        return tuple(found)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return list_findings(self.results)

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        return list_documents(self.results)

    @cached_property
    def untested(self) -> tuple[Untested, ...]:
        return find_untested(self.results)

    @cached_property
    def verdicts(self) -> tuple[VerdictIndex, ...]:
        found = []
        for verdict in WORST_FIRST:
            by_operator: Counter[OperatorName] = Counter(
                each.operator for each in self.results.cases if each.verdict == verdict
            )
            if by_operator:
                parts = tuple(
                    Count(short_names([operator]), by_operator[operator], list_anchor(operator, verdict))
                    for operator in sorted(by_operator)
                )
                number = sum(by_operator.values())
                found.append(VerdictIndex(verdict, word(verdict), number, verdict_anchor(verdict), parts))
        return tuple(found)

    @cached_property
    def lists(self) -> tuple[OperatorList, ...]:
        return build_lists(self.results)


def _class_view(results: Results, found: FailureClass) -> ClassView:
    marked = marked_features(found)
    ordered = sorted(found.cases, key=smallness)
    views = tuple(view_case(results, each, marked) for each in ordered)
    return ClassView(
        found,
        class_anchor(found.number),
        class_cases_anchor(found.number),
        short_names(found.operators),
        fit_text(found),
        _types(results, found),
        class_sentence(results, found.cases),
        views[0],
        views,
    )


def fit_text(found: FailureClass) -> str:
    """How many cases fit a note: `all 29 such cases`, `9 of 11 such cases, the other 2 fall under 9`."""
    own = len(found.cases)
    if found.conditions is None:
        return f"{plural(own, 'case')}; no set of up to three conditions separates them"
    elsewhere = found.elsewhere or {}
    others = sum(elsewhere.values())
    if own == found.fulfilling:
        return "the only such case" if own == 1 else f"all {count(own)} such cases"
    said = f"{count(own)} of {plural(found.fulfilling, 'such case')}"
    if others:
        rest = own + others == found.fulfilling
        verb = "falls" if others == 1 else "fall"
        numbers = listed([str(each) for each in elsewhere])
        said += (
            f", {'the other ' if rest else ''}{count(others)} {'' if rest else 'more '}{verb} under {numbers}"
        )
    return said


def _types(results: Results, found: FailureClass) -> str:
    """Which element types fail, and whether those are all that were judged."""
    failing = {each.element_type for each in found.cases}
    judged = {
        each.element_type
        for each in results.cases
        if each.operator in found.operators and (each.fails or each.verdict == "pass")
    }
    names = in_type_order(failing)
    said = listed(names) if len(names) <= 6 else f"{len(names)} element types"
    if failing == judged and len(failing) > 1:
        said = "every element type that was judged"
    if len(found.signals) == 1 and all(each.row and each.row.signal for each in found.cases):
        said += f"; always {found.signals[0]}"
    return said
