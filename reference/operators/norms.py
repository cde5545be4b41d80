"""LpNormalization: elements divided by the norm of their lane."""

from __future__ import annotations

import numpy as np

from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator
from reference.shared.standardization import overflowed
from reference.sums.summation import total, total_of_products


@reference_operator("ai.onnx::LpNormalization")
def lp_normalization(
    input: Numbers, *, axis: int = -1, p: int = 2, intermediate_overflow: Overflow
) -> Numbers:
    """input / Lp_norm(input, axis), and 0 where that is zero. Source: LpNormalization, Summary, axis, p."""
    if p == 1:
        norm = total(abs(input), axis, keepdims=True)
    else:
        norm = total_of_products(input, input, axis, keepdims=True).sqrt()
    nothing = norm.finite & (norm.value.signs() == 0)
    found = (input / norm).where(~np.broadcast_to(nothing & (norm.error == 0), input.shape), 0)
    return overflowed(found, norm, intermediate_overflow)
