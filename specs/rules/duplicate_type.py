"""A list of types names one of them twice."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "hint"
FOUND_BY = "specs.tensorflow_texts"
