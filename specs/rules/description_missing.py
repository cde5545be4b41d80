"""An attribute has no description."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.openvino_pages"
