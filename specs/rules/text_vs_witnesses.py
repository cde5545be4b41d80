"""A passage says what the implementations at hand, the operator's own among them, do not do."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "curated.yaml"
