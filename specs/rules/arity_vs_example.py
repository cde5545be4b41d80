"""An example gives a node more or fewer inputs or outputs than the operator takes."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.worked"
