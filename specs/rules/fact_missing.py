"""The page leaves open something that a reader needs to know."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "curated.yaml"
