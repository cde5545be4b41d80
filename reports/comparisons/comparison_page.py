"""A comparison of two runs as a page in the style of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from conformance.judging.verdicts import COMPARED, word
from opcert.vocabulary.names import DEFAULT_SUITE
from reports.comparisons.comparison_text import (
    LISTED,
    greatest_changes,
    reason_of,
    repro_command,
    verdict_text,
)
from reports.comparisons.run_comparison import KINDS, CaseChange, ChangeKind, RunComparison
from reports.text.pages_alone import render_page
from reports.text.phrasing import moment, ratio_text

MOST = 2000
"""Cases that one table of a page lists; what it leaves out it counts."""
_HEADINGS: dict[ChangeKind, str] = {
    "regressed": "Regressed",
    "fixed": "Fixed",
    "changed": "Changed",
    "expectation": "Expectation changed",
    "error": "Error changed",
    "same": "The same",
}


@dataclass(frozen=True)
class SideView:
    """What one run saw of a case, in words."""

    verdict: str
    word: str
    error: str


@dataclass(frozen=True)
class ChangeView:
    case: str
    before: SideView
    after: SideView
    reason: str
    command: str


@dataclass(frozen=True)
class ComparedCases:
    """The cases of one kind: all their number, and those that are listed."""

    kind: str
    heading: str
    meaning: str
    number: int
    views: tuple[ChangeView, ...]

    @property
    def left_out(self) -> int:
        return self.number - len(self.views)


def render_comparison(found: RunComparison, suite: str = DEFAULT_SUITE) -> str:
    """The whole page; needs no network, no script and no other file."""
    sections = [_section(found, kind, found.of_kind(kind), suite) for kind in LISTED]
    sections.append(_section(found, "error", greatest_changes(found), suite))
    runs = [
        (name, label, moment(str(record.header.get("started"))), str(record.header.get("suite")))
        for name, label, record in zip(("base", "head"), found.labels, (found.base, found.head), strict=True)
    ]
    return render_page(
        "comparison.html.j2",
        found=found,
        verdict=verdict_text(found),
        runs=runs,
        counts=[(_HEADINGS[kind], KINDS[kind], number) for kind, number in found.counts.items()],
        sections=[each for each in sections if each.number],
        alone=[
            ("New", "ran in the second run alone", _verdicts(found.new)),
            ("Gone", "ran in the first run alone", _verdicts(found.gone)),
        ],
        version=version("opcert"),
    )


def _section(
    found: RunComparison, kind: ChangeKind, changes: tuple[CaseChange, ...], suite: str
) -> ComparedCases:
    views = tuple(_view(each, suite) for each in changes[:MOST])
    return ComparedCases(kind, _HEADINGS[kind], KINDS[kind], found.counts[kind], views)


def _view(change: CaseChange, suite: str) -> ChangeView:
    sides = [
        SideView(
            each.verdict,
            word(each.verdict),
            "" if each.ratio is None or each.verdict not in COMPARED else ratio_text(each.ratio),
        )
        for each in (change.before, change.after)
    ]
    command = repro_command(change.case, suite) if change.kind == "regressed" else ""
    return ChangeView(change.case, sides[0], sides[1], reason_of(change), command)


def _verdicts(cases: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [(case, verdict, word(verdict)) for case, verdict in list(cases.items())[:MOST]]
