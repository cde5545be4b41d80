"""Resize-18: see `_resize.py`."""

from tests.generator.kept_pairs._resize import exclusions_of, factors_of
from tests.generator.kept_pairs._resize import levels_of as levels_of

OPERATOR = "ai.onnx::Resize-18"
FACTORS = factors_of(18)
EXCLUSIONS = exclusions_of(18)
