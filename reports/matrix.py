"""The support matrix: operator versions by element types, each cell its verdicts and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opcert.vocabulary.names import OperatorName
from reports.case_results import CaseResult
from reports.failure_classes import FailureClass
from reports.links import cases_link, operator_words, token
from reports.phrasing import count
from reports.type_order import in_type_order
from reports.verdicts import FAILING, short_word, word

_UNCOUNTED = ("harness_error", "not_run")


@dataclass(frozen=True)
class Line:
    """A count in a cell, what it counts, and the link to those cases."""

    number: int
    word: str
    link: str


@dataclass(frozen=True)
class Cell:
    """The cases of one operator version and one element type; `tokens` find them, `of` names the run."""

    tokens: tuple[str, ...]
    counts: Mapping[str, int]
    notes: tuple[int, ...]
    of: str = ""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def ran(self) -> int:
        return self.total - sum(self.counts.get(each, 0) for each in _UNCOUNTED)

    @property
    def verdict(self) -> str:
        """The verdict that the cell is named for: the worst failing one, else what most describes it."""
        order = (*FAILING, "pass", "unsupported", "observed", *_UNCOUNTED)
        return next((each for each in order if self.counts.get(each)), "not_run")

    @property
    def word(self) -> str:
        return short_word(self.verdict)

    @property
    def first(self) -> Line:
        return self._line(self.verdict)

    @property
    def fails(self) -> bool:
        return self.verdict in FAILING

    @property
    def rest(self) -> tuple[Line, ...]:
        """The other verdicts of the cell; where it fails, what passes is what remains and is left out."""
        order = (*FAILING, "unsupported", "observed", *_UNCOUNTED)
        return tuple(self._line(each) for each in order if self.counts.get(each) and each != self.verdict)

    @property
    def full(self) -> str:
        """Every count in words."""
        parts = [f"{count(number)} {word(verdict)}" for verdict, number in self.counts.items() if number]
        return ", ".join(parts)

    def _line(self, verdict: str) -> Line:
        link = cases_link(*self.tokens, token("status", verdict), of=self.of)
        return Line(self.counts.get(verdict, 0), short_word(verdict), link)


@dataclass(frozen=True)
class Row:
    """One operator version: the cell of all element types, and one cell a column (None: it has no case)."""

    operator: OperatorName
    link: str
    all: Cell
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows by domain, columns by element type, and the number of cases in each column."""

    columns: tuple[str, ...]
    domains: tuple[tuple[str, tuple[Row, ...]], ...]
    column_totals: tuple[int, ...]
    total: int


def build_matrix(cases: Sequence[CaseResult], classes: Sequence[FailureClass], of: str = "") -> Matrix:
    """Count every case once by operator version and element type; `of` names the run in links."""
    note_of = {str(case.id): each.number for each in classes for case in each.cases}
    columns = tuple(in_type_order(each.element_type for each in cases))
    by_place: dict[tuple[OperatorName, str], list[CaseResult]] = {}
    for each in cases:
        by_place.setdefault((each.operator, each.element_type), []).append(each)
    words = operator_words(each.operator for each in cases)

    def cell(own: Sequence[CaseResult], *tokens: str) -> Cell:
        notes = {note_of[str(each.id)] for each in own if str(each.id) in note_of}
        return Cell(tokens, Counter(each.verdict for each in own), tuple(sorted(notes)), of)

    rows = []
    for operator, name in words.items():
        op = token("op", name)
        parts = [by_place.get((operator, column), []) for column in columns]
        cells = tuple(
            cell(part, op, token("type", column)) if part else None
            for column, part in zip(columns, parts, strict=True)
        )
        whole = [each for part in parts for each in part]
        rows.append(Row(operator, cases_link(op, of=of), cell(whole, op), cells))
    domains = tuple(
        (domain, tuple(each for each in rows if each.operator.domain == domain))
        for domain in dict.fromkeys(each.operator.domain for each in rows)
    )
    totals = Counter(each.element_type for each in cases)
    return Matrix(columns, domains, tuple(totals[column] for column in columns), len(cases))
