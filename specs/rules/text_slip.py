"""A word of the document is misspelt, and another of its kind shows which one is meant."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.openvino_pages"
