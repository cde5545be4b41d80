"""The page does not say whether an input may be left out."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.openvino_pages"
