"""HannWindow, HammingWindow and BlackmanWindow: sums of cosines over a number of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.functions.functions import function_of
from reference.functions.stable_formulas import PI
from reference.numbers.number_arrays import Numbers
from reference.numbers.stacks import stacked
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.sums.summation import sum_of_products

Precision = Annotated[Choice[Literal["output", "float32"]], AsReading]
Conversion = Annotated[Choice[Literal["truncate", "half_even"]], AsReading]
SINGLE = ELEMENT_TYPES["float"]


@reference_operator("ai.onnx::HannWindow")
def hann_window(
    size: Numbers,
    *,
    output_datatype: int = 1,
    periodic: int = 1,
    window_precision: Precision,
    window_conversion: Conversion,
) -> Answer:
    """0.5 - 0.5 cos(2 pi n / N). Source: HannWindow, Summary, periodic, Examples."""
    half = Fraction(1, 2)
    return _window(size, (half, -half), output_datatype, periodic, window_precision, window_conversion)


@reference_operator("ai.onnx::HammingWindow")
def hamming_window(
    size: Numbers,
    *,
    output_datatype: int = 1,
    periodic: int = 1,
    window_precision: Precision,
    window_conversion: Conversion,
) -> Answer:
    """25/46 - 21/46 cos(2 pi n / N). Source: HammingWindow, Summary, periodic, Examples."""
    factors = (Fraction(25, 46), Fraction(-21, 46))
    return _window(size, factors, output_datatype, periodic, window_precision, window_conversion)


@reference_operator("ai.onnx::BlackmanWindow")
def blackman_window(
    size: Numbers,
    *,
    output_datatype: int = 1,
    periodic: int = 1,
    window_precision: Precision,
    window_conversion: Conversion,
) -> Answer:
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).

    Source: BlackmanWindow, Summary, periodic, Examples.
    """
    factors = (Fraction(42, 100), Fraction(-1, 2), Fraction(8, 100))
    return _window(size, factors, output_datatype, periodic, window_precision, window_conversion)


def _window(
    size: Numbers,
    factors: Sequence[Fraction],
    output_datatype: int,
    periodic: int,
    window_precision: Choice[Literal["output", "float32"]],
    window_conversion: Choice[str],
) -> Answer:
    """The sum of factors times cosines of multiples of 2 pi n / N, with N the size, less one if symmetric."""
    kind, points = BY_CODE[output_datatype], int(size.value.fraction(0))
    wide = kind.name == "double" and window_precision.ask() == "output"
    narrow = kind.name in ("float16", "bfloat16")
    working = replace(size.working, element_type=kind if wide or narrow else SINGLE)
    places = Numbers.exact(np.arange(points).astype(object), working).rounded(1, exact=True)
    step = places.held(2 * PI) / max(points if periodic else points - 1, 1)
    held = [places.held(each) for each in factors]
    # A factor may be 1 less another one.
    scales = [each.rounded(1, exact=each.error == 0) for each in held]
    waves = [places.lift(1), *(function_of("cos", places * (step * each)) for each in range(1, len(factors)))]
    found = sum_of_products(stacked(waves), stacked([each.broadcast((points,)) for each in scales]))
    conversion = window_conversion.ask() if kind.is_integer else "truncate"
    return answer_of(found, Choice("saturate"), kind, conversion)
