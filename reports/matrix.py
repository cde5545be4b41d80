"""The support matrix: operator versions by element types, each cell its verdicts and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opcert.names import OperatorName
from reports.anchors import list_anchor, types_anchor
from reports.failure_classes import FailureClass
from reports.results import CaseResult
from reports.text import count
from reports.type_order import in_type_order
from reports.verdicts import FAILING, short_word, word

_UNCOUNTED = ("harness_error", "not_run")


@dataclass(frozen=True)
class Line:
    """A count in a cell, what it counts, and where those cases are listed."""

    number: int
    word: str
    anchor: str


@dataclass(frozen=True)
class Cell:
    """The cases of one operator version and one element type (None: of every type)."""

    operator: OperatorName
    element_type: str | None
    counts: Mapping[str, int]
    notes: tuple[int, ...]

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
    def all_ran(self) -> Line:
        return Line(self.ran, "ran", types_anchor(self.operator, self.element_type))

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
        anchor = list_anchor(self.operator, verdict, self.element_type)
        return Line(self.counts.get(verdict, 0), short_word(verdict), anchor)


@dataclass(frozen=True)
class Row:
    """One operator version: the cell of all element types, and one cell a column (None: it has no case)."""

    operator: OperatorName
    all: Cell
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows by domain, columns by element type, and the number of cases in each column."""

    columns: tuple[str, ...]
    domains: tuple[tuple[str, tuple[Row, ...]], ...]
    column_totals: tuple[int, ...]
    total: int


def build_matrix(cases: Sequence[CaseResult], classes: Sequence[FailureClass]) -> Matrix:
    """Count every case once by operator version and element type."""
    note_of = {str(case.id): each.number for each in classes for case in each.cases}
    columns = tuple(in_type_order(each.element_type for each in cases))
    operators = sorted({each.operator for each in cases})
    rows = []
    for operator in operators:
        own = [each for each in cases if each.operator == operator]
        cells = tuple(
            _cell(operator, column, [each for each in own if each.element_type == column], note_of)
            for column in columns
        )
        whole = _cell(operator, None, own, note_of)
        assert whole is not None
        rows.append(Row(operator, whole, cells))
    domains = tuple(
        (domain, tuple(each for each in rows if each.operator.domain == domain))
        for domain in dict.fromkeys(each.operator.domain for each in rows)
    )
    totals = Counter(each.element_type for each in cases)
    return Matrix(columns, domains, tuple(totals[column] for column in columns), len(cases))


def _cell(
    operator: OperatorName, element_type: str | None, cases: Sequence[CaseResult], note_of: Mapping[str, int]
) -> Cell | None:
    if not cases:
        return None
    notes = {note_of[str(each.id)] for each in cases if str(each.id) in note_of}
    return Cell(operator, element_type, Counter(each.verdict for each in cases), tuple(sorted(notes)))
