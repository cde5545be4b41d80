"""The type of an attribute stands in words that name none."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.openvino_pages"
