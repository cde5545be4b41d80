"""`index.html`: the report for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reports.pages.report_page import write_report
from reports.results.case_results import Results


def write(results: Results, folder: Path) -> Path:
    """Write the page; raises UserError where the folder cannot be written."""
    return write_report([results], folder)


def write_together(runs: Sequence[Results], folder: Path) -> Path:
    """Write one page of several runs of one suite, side by side."""
    return write_report(runs, folder)
