"""What a runtime supports: operator versions by element types, in an order that no verdict changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import Literal

from conformance.judging.known_causes import WORDS
from conformance.judging.verdicts import UNCOUNTED, VERDICTS, VerdictCounts
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import CaseId, OperatorName, slug
from reports.causes.class_words import headline
from reports.causes.failure_class import NOBODY, FailureClass
from reports.causes.failure_classes import classes_of
from reports.causes.followed_readings import fault_text
from reports.causes.spoken_failures import said_form
from reports.overview.cause_paragraphs import fault_cause
from reports.overview.headline import list_warnings, runtime_label
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import mapping, text
from reports.text.value_text import in_type_order

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{3,}\b")
_FOLDERS = re.compile(r"(?<![\w/])(?:/[\w.+@-]+)+/(?=[\w.+@-])")
_LONGEST = 400
_DIGITS = 6


@dataclass(frozen=True)
class SupportNote:
    """A cause and the cases that fail by it.

    `name` is of the cause alone: it stays where other causes come and go, and where the cause gets more cases
    or operators. `remarks` say what is known of it. Where it is `open`, the documents are wrong or leave it
    open, and no runtime is blamed.
    """

    name: str
    title: str
    operators: tuple[OperatorName, ...]
    element_types: tuple[str, ...]
    cases: tuple[str, ...]
    smallest: CaseId
    open: bool
    remarks: tuple[str, ...] = ()
    thread: str = ""


def make_notes(classes: Iterable[FailureClass]) -> tuple[SupportNote, ...]:
    """A note for each failure class, in the order of their names."""
    numbers = Counter[str]()
    notes = []
    for failures in sorted(classes, key=lambda found: min(str(case.id) for case in found.cases)):
        name = _name(failures)
        numbers[name] += 1
        notes.append(_note(failures, name if numbers[name] == 1 else f"{name}-{numbers[name]}"))
    return tuple(sorted(notes, key=lambda note: note.name))


def steady_text(text: str) -> str:
    """The text on one line, without addresses and folders, which differ from run to run."""
    return one_line(_FOLDERS.sub("", _ADDRESS.sub("0x...", text)), _LONGEST)


def _note(found: FailureClass, name: str) -> SupportNote:
    known = found.known
    remarks = [WORDS[known.kind]] if known is not None else []
    if found.tier is NOBODY:
        remarks.append("no runtime that was tried passes one of these cases")
    if found.told == "association":
        remarks.append("an association with passing cases, which no experiment has tried")
    return SupportNote(
        name,
        steady_text(headline(found)),
        tuple(sorted(found.operators)),
        tuple(in_type_order(result.element_type for result in found.cases)),
        tuple(sorted(str(result.id) for result in found.cases)),
        found.smallest.id,
        not found.fails,
        tuple(map(steady_text, remarks)),
        (known.thread or "") if known is not None else "",
    )


def _name(found: FailureClass) -> str:
    """The id of the entry that explains the cases, else what they do and a digest of what tells the cause."""
    if found.known is not None:
        return slug(found.known.id)
    if found.told == "message":
        told = said_form(found.smallest)
    else:
        told = "\n".join([*sorted({operator.unversioned for operator in found.operators}), headline(found)])
    return f"{slug(found.kind.replace('_', '-'))}-{sha256(told.encode()).hexdigest()[:_DIGITS]}"


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
        return tuple(in_type_order(name for row in self.rows for name in row.by_type if row.demands(name)))


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
        return tuple(row for section in self.sections for row in section.rows)


def make_support_table(results: Results) -> SupportTable:
    """Count every case of a run once by operator version and element type, with the causes of what fails."""
    notes = make_notes(classes_of(results))
    note_of = {case: note for note in notes for case in note.cases}
    sections: dict[tuple[str, str], list[SupportRow]] = {}
    for operator, cases in results.by_operator.items():
        by_type: dict[str, list[CaseResult]] = {}
        for result in cases:
            by_type.setdefault(result.element_type, []).append(result)
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
            for domain, group in sorted(
                sections, key=lambda section: (section[0], not section[1], section[1])
            )
        ),
        notes,
        tuple(sorted(_fault(results, fault) for fault in results.record.faults)),
        list_warnings(results),
    )


def _fault(results: Results, fault: Mapping[str, object]) -> str:
    """A fault of the whole run, and the entry that explains it, where one does."""
    return "; ".join(map(steady_text, filter(None, (fault_text(fault), fault_cause(results, fault)))))


def _cell(cases: Iterable[CaseResult], note_of: Mapping[str, SupportNote]) -> SupportCell:
    own = list(cases)
    notes = {note.name: note for result in own if (note := note_of.get(str(result.id))) is not None}
    found = Counter(result.verdict for result in own)
    counts: dict[str, int] = {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
    return SupportCell(counts, tuple(sorted(notes)))
