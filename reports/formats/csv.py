"""`cases.csv`: one line a case, for a spreadsheet."""

from __future__ import annotations

from pathlib import Path

from opcert.vocabulary.whole_files import write_text
from reports.results.case_csv import FILE, render_csv
from reports.results.case_results import Results

MARKS = {"cases.csv": rb"\Acase,operator,family,element_type,verdict,"}


def write(results: Results, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_text(folder / FILE, render_csv(results))
