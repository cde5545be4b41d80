"""An example's node lacks an attribute that its expected output is computed with."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.worked"
