"""The index of the page lists an operator that the page does not describe."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.importers"
