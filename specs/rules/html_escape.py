"""HTML entities stand in text or code that is not HTML."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.importers"
