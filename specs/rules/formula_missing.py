"""The page gives no formula for something that must be computed."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "curated.yaml"
