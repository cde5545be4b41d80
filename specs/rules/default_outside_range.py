"""A default is none of the values that the page allows."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.openvino_pages"
