"""`badge.json`: what a shields.io endpoint badge reads. It states counts, and no score."""

from __future__ import annotations

from reports.certificates.badges import render_run_badge as render

FILE = "badge.json"
MARKS = {"badge.json": rb'"label": "operator documents: '}
__all__ = ["FILE", "render"]
