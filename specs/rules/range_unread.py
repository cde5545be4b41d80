"""The range of an attribute stands in words that state no bounds."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.openvino_pages"
