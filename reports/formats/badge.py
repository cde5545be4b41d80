"""`badge.json`: what a shields.io endpoint badge reads. It states counts, and no score."""

from __future__ import annotations

from pathlib import Path

from opcert.vocabulary.whole_files import write_text
from reports.certificates.badges import render_run_badge
from reports.results.case_results import Results

MARKS = {"badge.json": rb'"label": "operator documents: '}


def write(results: Results, folder: Path) -> Path:
    """Write the file; raises UserError where the folder cannot be written."""
    return write_text(folder / "badge.json", render_run_badge(results))
