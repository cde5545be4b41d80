"""A list, a description or a block of code has no end."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.onnx_pages"
