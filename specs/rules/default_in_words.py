"""The text gives a default that the list of attributes, which prints the others, does not."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.importers"
