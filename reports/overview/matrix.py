"""The support matrix: operator versions by element types, each cell what passes of all, and its notes.

Rows stand in groups, of domains, and where there are many of families of operators; what fails comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import FAILING, VerdictCounts, short_word
from opcert.vocabulary.names import OperatorName
from reports.causes.failure_class import FailureClass
from reports.results.case_results import OTHERS, CaseResult
from reports.text.links import any_of, cases_link, note_id, operator_link, operator_words, token
from reports.text.value_text import in_type_order, type_rank

MOST_NOTES = 3
"""So many marks of notes a cell has at most; all notes stand in its words."""
FEW_ROWS = 24
"""Up to this many rows are grouped by domain alone."""
MOST_ROWS = 600
"""Of more operator versions the table has no columns of element types, and other tables have so many rows."""
MOST_ON_PAPER, MOST_ACROSS = 12, 20
"""A table of more columns flows on paper; a long one, which stands across, of more than the second."""
_KIN = {
    "complex": ("complex64", "complex128"),
    "narrow": ("float8", "float6", "float4", "int4", "uint4", "int2", "uint2"),
}
"""Columns of several element types, by how their names begin."""


@dataclass(frozen=True)
class Cell(VerdictCounts):
    """The cases of one operator version and some element types; `tokens` find them, `of` names the run.

    `position` is that of the run in the report: its notes are elements of the page. `kin` are the element
    types where several stand in its column.
    """

    tokens: tuple[str, ...]
    counts: Mapping[str, int]
    notes: tuple[int, ...]
    of: str = ""
    position: int = 0
    kin: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict that the cell is marked with: the worst failing one, else what most describes it."""
        return self.mark

    @property
    def word(self) -> str:
        return short_word(self.verdict)

    @property
    def link(self) -> str:
        """What was decided of its cases, else all of them; the list has the worst first."""
        decided = (token("status", "decided"),) if self.decided else ()
        return cases_link(*self.tokens, *decided, of=self.of)

    @property
    def fails(self) -> bool:
        return self.verdict in FAILING

    @property
    def shown_notes(self) -> tuple[tuple[int, str], ...]:
        """The first notes, each with its element."""
        number = MOST_NOTES if len(self.notes) <= MOST_NOTES else MOST_NOTES - 1
        return tuple((note, note_id(self.position, note)) for note in self.notes[:number])

    @property
    def more_notes(self) -> tuple[int, str]:
        """How many notes more there are, and the link to the failing cases of all of them."""
        link = cases_link(*self.tokens, token("status", "failing"), of=self.of)
        return len(self.notes) - len(self.shown_notes), link

    @property
    def full(self) -> str:
        """Every count in words, the worst first, and every note."""
        notes = f"; notes {', '.join(map(str, self.notes))}" if self.notes else ""
        types = f"{', '.join(self.kin)}: " if self.kin else ""
        return f"{types}{self.told}{notes}"


@dataclass(frozen=True)
class MatrixLine:
    """One operator version: the cell of all element types, and one cell a column (None: it has no case)."""

    operator: OperatorName
    link: str
    all: Cell
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class RowGroup:
    """Rows under one heading, those that fail first."""

    name: str
    rows: tuple[MatrixLine, ...]

    @property
    def failing(self) -> int:
        """How many rows fail."""
        return sum(row.all.fails for row in self.rows)

    @property
    def says(self) -> str:
        """`3 of 12 fail`; nothing of a single row."""
        if len(self.rows) == 1:
            return ""
        if not self.failing:
            return f"none of {len(self.rows)} fails"
        return f"{self.failing} of {len(self.rows)} {'fails' if self.failing == 1 else 'fail'}"


@dataclass(frozen=True)
class Column:
    """Element types that stand in one column, and the number of cases of them."""

    name: str
    types: tuple[str, ...]
    total: int

    @property
    def kin(self) -> tuple[str, ...]:
        """The types, where they are several."""
        return self.types if len(self.types) > 1 else ()


@dataclass(frozen=True)
class Matrix:
    """Groups of rows, and columns of element types, what most operators take first."""

    columns: tuple[Column, ...]
    groups: tuple[RowGroup, ...]
    total: int

    @property
    def long(self) -> bool:
        return len(self.rows) > FEW_ROWS

    @property
    def flows(self) -> bool:
        """Whether it is too wide for a sheet of paper."""
        return len(self.columns) + 1 > (MOST_ACROSS if self.long else MOST_ON_PAPER)

    @property
    def rows(self) -> tuple[MatrixLine, ...]:
        return tuple(row for group in self.groups for row in group.rows)


def build_matrix(
    cases: Sequence[CaseResult],
    classes: Sequence[FailureClass],
    of: str = "",
    position: int = 0,
    group_of: Callable[[OperatorName], str] = lambda operator: operator.domain,
) -> Matrix:
    """Count every case once by operator version and element type; `of` names the run in links.

    `group_of` says which operators stand together where they are many.
    """
    note_of = {str(case.id): failures.number for failures in classes for case in failures.cases}
    narrow = len({result.operator for result in cases}) > MOST_ROWS
    columns = _columns(cases)
    column_of = {name: place for place, column in enumerate(columns) for name in column.types}
    by_place: dict[OperatorName, list[list[CaseResult]]] = {}
    for result in cases:
        parts = by_place.setdefault(result.operator, [[] for _ in columns])
        parts[column_of[result.element_type]].append(result)

    def cell(own: Sequence[CaseResult], *tokens: str, kin: tuple[str, ...] = ()) -> Cell:
        notes = {note_of[str(result.id)] for result in own if str(result.id) in note_of}
        return Cell(
            tokens, Counter(result.verdict for result in own), tuple(sorted(notes)), of, position, kin
        )

    rows = []
    for operator, name in operator_words(by_place).items():
        op = token("op", name)
        cells = tuple(
            cell(part, op, any_of("type", column.types), kin=column.kin) if part else None
            for column, part in zip(columns, by_place[operator], strict=True)
            if not narrow
        )
        whole = [result for part in by_place[operator] for result in part]
        rows.append(MatrixLine(operator, operator_link(operator, of), cell(whole, op), cells))
    return Matrix(() if narrow else columns, _groups(rows, group_of), len(cases))


def _columns(cases: Sequence[CaseResult]) -> tuple[Column, ...]:
    """Element types by how many operator versions are asked for an answer in them; some with their kin."""
    totals = Counter(result.element_type for result in cases)
    kin: dict[str, list[str]] = {}
    for name in in_type_order(totals):
        kin.setdefault(_kin(name), []).append(name)
    takers: dict[str, set[OperatorName]] = {}
    for result in cases:
        own = takers.setdefault(_kin(result.element_type), set())
        if result.demand == "answer":
            own.add(result.operator)
    found = [
        Column(name if len(types) > 1 else types[0], tuple(types), sum(totals[each] for each in types))
        for name, types in kin.items()
    ]
    return tuple(
        sorted(found, key=lambda column: (-len(takers[_kin(column.types[0])]), type_rank(column.types[0])))
    )


def _kin(name: str) -> str:
    return next((kin for kin, heads in _KIN.items() if name.startswith(heads)), name)


def _groups(rows: Sequence[MatrixLine], group_of: Callable[[OperatorName], str]) -> tuple[RowGroup, ...]:
    """Rows by domain, or, where they are many, by group; what fails most comes first.

    Those that no group has stand behind the groups in which something fails as well.
    """
    found: dict[str, list[MatrixLine]] = {}
    for row in rows:
        name = group_of(row.operator) if len(rows) > FEW_ROWS else row.operator.domain
        found.setdefault(name, []).append(row)
    groups = [
        RowGroup(name, tuple(sorted(own, key=lambda row: not row.all.fails))) for name, own in found.items()
    ]
    if len(rows) > FEW_ROWS:
        groups.sort(key=lambda group: (_rank(group), -sum(row.all.failing for row in group.rows)))
    return tuple(groups)


def _rank(group: RowGroup) -> int:
    """Groups with failures first, then operators without a group if some of them fail, then what passes."""
    return 2 if not group.failing else 1 if group.name == OTHERS else 0
