"""`index.html`: the report for people."""

from __future__ import annotations

from pathlib import Path

from reports.files import write_text
from reports.html import render_html
from reports.results import Results


def write(results: Results, folder: Path) -> Path:
    """Write the page; raises UserError where the folder cannot be written."""
    return write_text(folder / "index.html", render_html(results))
