"""Two passages of one page contradict each other."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "curated.yaml"
