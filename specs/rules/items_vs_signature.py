"""The arguments, defaults or results that a docstring describes are not those that it announces."""

from __future__ import annotations

from specs.model import Severity

SEVERITY: Severity = "warning"
FOUND_BY = "specs.tensorflow_texts"
