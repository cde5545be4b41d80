"""The page has lost its line ends, and with them the lines of its code."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.importers"
