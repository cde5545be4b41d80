"""Resize-13: see `_resize.py`."""

from tests.generator.kept_pairs._resize import exclusions_of, factors_of
from tests.generator.kept_pairs._resize import levels_of as levels_of

OPERATOR = "ai.onnx::Resize-13"
FACTORS = factors_of(13)
EXCLUSIONS = exclusions_of(13)
