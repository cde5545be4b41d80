"""`cases.csv`: one line a case, for a spreadsheet."""

from __future__ import annotations

import csv
import io
import math

from opcert.vocabulary.harmless import for_spreadsheet, one_line
from reports.results.case_results import CaseResult, Results

FILE = "cases.csv"
COLUMNS = (
    "case",
    "operator",
    "family",
    "element_type",
    "verdict",
    "error_over_allowed",
    "seconds",
    "rule_broken",
    "reason",
    "reproduce",
)


def render_csv(results: Results) -> str:
    """The whole file, in suite order. Text that a spreadsheet would compute gets an apostrophe before it."""
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(COLUMNS)
    for each in results.cases:
        lines.writerow(for_spreadsheet(cell) for cell in _cells(results, each))
    return written.getvalue()


def _cells(results: Results, case: CaseResult) -> tuple[str, ...]:
    seconds = math.fsum(row.seconds for row in case.rows)
    reason = (case.row.reason if case.row is not None else None) or ""
    return (
        str(case.id),
        str(case.operator),
        case.id.family,
        case.element_type,
        case.verdict,
        "" if case.ratio is None else f"{case.ratio:.6g}",
        f"{seconds:.6f}" if case.rows else "",
        case.constraint or "",
        one_line(reason, 1000),
        results.reproduction_command(case.id) if case.fails else "",
    )
