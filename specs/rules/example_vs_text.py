"""An example breaks a rule that the text states."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "generator.families"
