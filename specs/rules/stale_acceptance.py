"""An entry of findings.yaml accepts nothing any more."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.linting"
