"""A list holds an item that is none of what the list is of."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.openvino_pages"
