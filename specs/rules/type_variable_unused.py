"""A type variable is constrained, and no input or output is of it."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.onnx_pages"
