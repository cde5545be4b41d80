"""The bounds that a heading gives do not fit the items below it."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.onnx_pages"
