"""A value breaks the sequence that the text says the array holds."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.openvino_pages"
