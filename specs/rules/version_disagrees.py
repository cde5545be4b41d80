"""The document gives more than one version, or more than one domain, for an operator."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "error"
FOUND_BY = "specs.importers"
