"""An example asks for an operator set in which an older version of the operator holds."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.worked"
