"""The range of an attribute admits values that mean nothing."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.importers"
