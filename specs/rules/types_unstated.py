"""The page leaves open which types a type variable stands for."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.importers"
