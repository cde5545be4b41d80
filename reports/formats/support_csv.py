"""`support.csv`: what a runtime supports, one line an operator version and element type."""

from __future__ import annotations

import csv
import io

from opcert.vocabulary.harmless import for_spreadsheet
from reports.overview.support_table import SupportTable, make_support_table
from reports.results.case_results import Results

FILE = "support.csv"
MARKS = {"support.csv": rb"\Adomain,operator,since_version,element_type,support,"}
COLUMNS = (
    "domain",
    "operator",
    "since_version",
    "element_type",
    "support",
    "pass",
    "demanded",
    "wrong",
    "open",
    "inexact",
    "unsupported",
    "unjudged",
    "observed",
    "notes",
)


def render(results: Results) -> str:
    """The whole file."""
    return render_support_csv(make_support_table(results))


def render_support_csv(found: SupportTable) -> str:
    """The whole file, operators by domain and name.

    `pass`, `wrong`, `open`, `inexact`, `unsupported` and `unjudged` make `demanded`; `notes` are names of
    notes of the other two formats, with spaces between them.
    """
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(COLUMNS)
    for row in sorted(found.rows, key=lambda row: row.operator):
        for name, cell in row.by_type.items():
            failing = (cell.failing, cell.open, cell.inexact)
            numbers = (cell.passing, cell.demanded, *failing, cell.unsupported, cell.unjudged)
            words = (row.operator.domain, row.operator.name, str(row.operator.since_version), name)
            lines.writerow(
                for_spreadsheet(word)
                for word in (
                    *words,
                    cell.support,
                    *map(str, (*numbers, cell.observed)),
                    " ".join(cell.notes),
                )
            )
    return written.getvalue()
