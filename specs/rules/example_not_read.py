"""An example holds no call that could be read out of it."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.worked"
