"""The page does not say of which type an input or output is."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.openvino_pages"
