"""An attribute has no range of values, where every other one has."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.importers"
