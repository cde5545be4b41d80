"""An example is declared as XML and is none, even without what its dots leave out."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.openvino_pages"
