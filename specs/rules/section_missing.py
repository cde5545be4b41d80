"""A section that every page of the kind has is missing or empty."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.openvino_pages"
