"""The examples call the operator of this name in another domain."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.worked"
