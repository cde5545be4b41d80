"""An array is bracketed in another shape than the text says."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.worked"
