"""An example calls another operator than the page describes."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.worked"
