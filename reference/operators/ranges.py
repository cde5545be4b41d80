"""Range: numbers at equal distances."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite
from typing import Annotated, Literal

import numpy as np

from reference.answers import UnstableLength
from reference.numbers.number_arrays import Numbers
from reference.numbers.stacks import beside
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator


@reference_operator("ai.onnx::Range")
def progression(
    start: Numbers,
    limit: Numbers,
    delta: Numbers,
    *,
    stash_type: int = 1,
    body_arithmetic: Annotated[Choice[Literal["text", "body"]], AsReading],
) -> Numbers:
    """start + i * delta for i below max(ceil((limit - start) / delta), 0).

    The function body adds delta again and again instead. Source: Range, Summary, both formulas.
    Raises UnstableLength where the number of elements hangs on rounding.
    """
    count = _count(start, limit, delta)
    places = Numbers.exact(np.arange(count).astype(object), start.working).rounded(1, exact=True)
    spread = start.reshape((1,)) + places * delta.reshape((1,))
    if not start.working.is_float or count < 3 or body_arithmetic.ask() == "text":
        return spread
    steps, here = [start.reshape((1,))], start.reshape((1,))
    for _ in range(count - 1):
        here = here + delta.reshape((1,))
        steps.append(here)
    return beside(*steps)


def _count(start: Numbers, limit: Numbers, delta: Numbers) -> int:
    """How many elements there are."""
    if start.is_integer:
        return max(ceil((limit.value.fraction(0) - start.value.fraction(0)) / delta.value.fraction(0)), 0)
    ratio = (limit - start).divided(delta)
    exact, error = ratio.value.fraction(0), float(ratio.error.reshape(-1)[0])
    if not isfinite(error) or ceil(exact - Fraction(error)) != ceil(exact + Fraction(error)):
        raise UnstableLength("the number of elements hangs on rounding")
    return max(ceil(exact), 0)
