"""The page does not say whether an attribute must be given."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.openvino_pages"
