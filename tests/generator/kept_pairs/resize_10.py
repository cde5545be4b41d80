"""Resize-10: see `_resize.py`."""

from tests.generator.kept_pairs._resize import exclusions_of, factors_of
from tests.generator.kept_pairs._resize import levels_of as levels_of

OPERATOR = "ai.onnx::Resize-10"
FACTORS = factors_of(10)
EXCLUSIONS = exclusions_of(10)
