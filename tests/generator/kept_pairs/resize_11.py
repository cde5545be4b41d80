"""Resize-11: see `_resize.py`."""

from tests.generator.kept_pairs._resize import exclusions_of, factors_of
from tests.generator.kept_pairs._resize import levels_of as levels_of

OPERATOR = "ai.onnx::Resize-11"
FACTORS = factors_of(11)
EXCLUSIONS = exclusions_of(11)
