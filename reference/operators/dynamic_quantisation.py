"""DynamicQuantizeLinear: bytes in steps that span the elements and zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from reference.answers import Answer
from reference.answers.orders import NanReading, greater_of, lesser_of
from reference.answers.quantised import as_integers
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.extremes import greatest, least

ScaleOfZeros = Annotated[Choice[Literal["formula", "one", "step"]], AsReading]
BYTE = ELEMENT_TYPES["uint8"]
STEPS = 255


@reference_operator("ai.onnx::DynamicQuantizeLinear")
def dynamic_quantize_linear(
    x: Numbers, *, nan_in_max_min: NanReading, scale_of_zeros: ScaleOfZeros
) -> tuple[Answer | Numbers, ...]:
    """Scale (max(0, x) - min(0, x)) / 255, zero point -min(x) / scale, y = round(x / scale) + zero point.

    Source: DynamicQuantizeLinear, Summary.
    """
    flat, zero = x.reshape((x.error.size,)), x.lift(0)
    low = lesser_of(zero, least(flat, 0, nan_in_max_min), nan_in_max_min)
    high = greater_of(zero, greatest(flat, 0, nan_in_max_min), nan_in_max_min)
    scale = _step(high - low)
    if scale.sign == 0 and scale.error == 0 and (option := scale_of_zeros.ask()) != "formula":
        scale = scale.lift(1) / (1 if option == "one" else STEPS)
    zero_point = as_integers(BYTE, -(low / scale))
    shift = Numbers.exact(zero_point.expected.array.astype(object), x.working)
    found = as_integers(BYTE, x / scale, shift.broadcast(x.shape))
    assert found.allowed is not None
    assert zero_point.allowed is not None
    # Where the zero point may be another one, so may be all that it is added to.
    y = replace(found, allowed=found.allowed + np.broadcast_to(zero_point.allowed, x.shape))
    return y, scale, zero_point


def _step(span: Numbers) -> Numbers:
    """The range divided by 255, or times its reciprocal; a power of two comes out of either."""
    exact = span.divided(span.lift(STEPS))
    return exact if exact.value.powers_of_two().all() and not exact.error.any() else span / STEPS
