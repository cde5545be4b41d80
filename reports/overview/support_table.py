"""What a runtime supports: operator versions by element types, in an order that no verdict changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

from conformance.judging.verdicts import UNCOUNTED, VERDICTS, VerdictCounts
from opcert.vocabulary.names import OperatorName
from reports.causes.failure_classes import classes_of
from reports.causes.followed_readings import fault_text
from reports.overview.cause_paragraphs import fault_cause
from reports.overview.headline import list_warnings, runtime_label
from reports.overview.support_notes import SupportNote, make_notes, steady_text
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import mapping, text
from reports.text.type_order import in_type_order

Support = Literal["full", "partial", "none", "wrong", "open", "inexact", "unknown", "undemanded"]
"""What a cell comes to:

`full`, every demanded case passes; `partial`, what does not pass is unsupported, as the runtime says itself;
`none`, all is unsupported; `wrong`, something is not as the documents say; `open`, nothing fails, and
something is as one passage says and another denies; `inexact`, nothing fails, and something is less exact
than the table of functions; `unknown`, something was not run or not judged; `undemanded`, nothing is demanded
but survival.
"""


@dataclass(frozen=True)
class SupportCell(VerdictCounts):
    """Cases by verdict; `notes` are names of notes."""

    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def demanded(self) -> int:
        """The cases of which more is demanded than survival."""
        return self.total - self.observed

    @property
    def unjudged(self) -> int:
        return sum(self.counts.get(each, 0) for each in UNCOUNTED)

    @property
    def support(self) -> Support:
        if self.failing:
            return "wrong"
        if self.unjudged:
            return "unknown"
        if self.open:
            return "open"
        if self.inexact:
            return "inexact"
        if not self.demanded:
            return "undemanded"
        if self.passing == self.demanded:
            return "full"
        return "partial" if self.passing else "none"


@dataclass(frozen=True)
class SupportRow:
    """One operator version: the cell of all its cases, and one for each element type that it has cases of."""

    operator: OperatorName
    all: SupportCell
    by_type: Mapping[str, SupportCell]

    def demands(self, element_type: str) -> bool:
        """Whether more than survival is demanded of some case of this type."""
        cell = self.by_type.get(element_type)
        return cell is not None and cell.demanded > 0


@dataclass(frozen=True)
class SupportSection:
    """Operators of one domain that do alike, by name, newest version first."""

    heading: str
    rows: tuple[SupportRow, ...]

    @property
    def demanded_types(self) -> tuple[str, ...]:
        """The element types in which something is demanded of one of the operators."""
        return tuple(in_type_order(name for each in self.rows for name in each.by_type if each.demands(name)))


@dataclass(frozen=True)
class SupportTable:
    """What one run says of a runtime. It holds no time, no place, and no number of a run."""

    runtime: str
    source: str
    machine: str
    suite: str
    all: SupportCell
    sections: tuple[SupportSection, ...]
    notes: tuple[SupportNote, ...]
    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    opcert: str = version("opcert")

    @property
    def rows(self) -> tuple[SupportRow, ...]:
        return tuple(row for each in self.sections for row in each.rows)


def make_support_table(results: Results) -> SupportTable:
    """Count every case of a run once by operator version and element type, with the causes of what fails."""
    notes = make_notes(classes_of(results))
    note_of = {case: each for each in notes for case in each.cases}
    sections: dict[tuple[str, str], list[SupportRow]] = {}
    for operator, cases in results.by_operator.items():
        by_type: dict[str, list[CaseResult]] = {}
        for each in cases:
            by_type.setdefault(each.element_type, []).append(each)
        cells = {name: _cell(by_type[name], note_of) for name in in_type_order(by_type)}
        group = results.groups.get(operator, "")
        row = SupportRow(operator, _cell(cases, note_of), cells)
        sections.setdefault((operator.domain, group), []).append(row)
    header = results.record.header
    platform = mapping(header.get("platform"))
    return SupportTable(
        runtime_label(results.record),
        steady_text(text(mapping(header.get("runtime")).get("source"))),
        " ".join(filter(None, (text(platform.get(name)) for name in ("system", "machine")))),
        results.suite.digest,
        _cell(results.cases, note_of),
        tuple(
            SupportSection(f"{domain}: {group}" if group else domain, tuple(sections[domain, group]))
            for domain, group in sorted(sections, key=lambda each: (each[0], not each[1], each[1]))
        ),
        notes,
        tuple(sorted(_fault(results, each) for each in results.record.faults)),
        list_warnings(results),
    )


def _fault(results: Results, fault: Mapping[str, object]) -> str:
    """A fault of the whole run, and the entry that explains it, where one does."""
    return "; ".join(map(steady_text, filter(None, (fault_text(fault), fault_cause(results, fault)))))


def _cell(cases: Iterable[CaseResult], note_of: Mapping[str, SupportNote]) -> SupportCell:
    own = list(cases)
    notes = {note.name: note for each in own if (note := note_of.get(str(each.id))) is not None}
    found = Counter(each.verdict for each in own)
    counts: dict[str, int] = {each: found[each] for each in VERDICTS if found[each]}
    return SupportCell(counts, tuple(sorted(notes)))
