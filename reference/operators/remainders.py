"""Mod: what a division leaves."""

from __future__ import annotations

from reference.answers.orders import remainder
from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator


@reference_operator("ai.onnx::Mod")
def modulo(A: Numbers, B: Numbers, *, fmod: int = 0) -> Numbers:
    """A - floor(A / B) * B, with `fmod` A - trunc(A / B) * B. Source: Mod-28, Summary and special cases."""
    return remainder(A, B, "truncate" if fmod else "floor")
