"""`cases.csv`: one line a case, for a spreadsheet."""

from __future__ import annotations

from reports.pages.case_table import CSV_FILE as FILE
from reports.pages.case_table import render_csv as render

MARKS = {"cases.csv": rb"\Acase,operator,family,element_type,verdict,"}
__all__ = ["FILE", "render"]
