"""`cases.csv`: one line a case, for a spreadsheet."""

from __future__ import annotations

from reports.results.case_csv import FILE
from reports.results.case_csv import render_csv as render

__all__ = ["FILE", "render"]
