"""MelWeightMatrix: triangles over the bins of a spectrum, at equal distances on the mel scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from reference.answers import Answer, UnstableLength
from reference.answers.number_answers import answer_of
from reference.answers.orders import whole
from reference.functions.functions import function_of
from reference.functions.powers import NARROW_ULPS, ULPS, power_ulps
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator

SINGLE = ELEMENT_TYPES["float"]


@reference_operator("ai.onnx::MelWeightMatrix")
def weigh_bins(
    num_mel_bins: int,
    dft_length: int,
    sample_rate: int,
    lower_edge_hertz: Numbers,
    upper_edge_hertz: Numbers,
    *,
    output_datatype: int = 1,
    highest_edge: Annotated[Choice[Literal["example", "text"]], AsReading],
    weight_precision: Annotated[Choice[Literal["output", "float32"]], AsReading],
    weight_conversion: Annotated[Choice[Literal["truncate", "half_even"]], AsReading],
) -> Answer:
    """Each band rises from one edge's bin to the next, where it is 1, and falls to the one after that.

    Source: MelWeightMatrix, Summary, dft_length, lower_edge_hertz, upper_edge_hertz, Examples.
    """
    steps = num_mel_bins + (2 if highest_edge.ask() == "example" else 1)
    edges = _edges(lower_edge_hertz, upper_edge_hertz, steps, num_mel_bins + 2)
    places = edges * (dft_length + 1) / sample_rate
    if not lower_edge_hertz.sign.any():
        # Each formula gives zero for zero, and nothing is rounded there.
        places = edges.lift(0).broadcast(edges.shape).where(np.arange(edges.shape[0]) == 0, places)
    found = whole(places, "floor")
    if found.error.any() or found.lost.any():
        raise UnstableLength("in which bin an edge lies hangs on rounding")
    bins = [int(each) for each in found.value.fractions()]
    over, under = (np.full((dft_length // 2 + 1, num_mel_bins), each, dtype=object) for each in (0, 1))
    for band, (left, centre, right) in enumerate(zip(bins, bins[1:], bins[2:], strict=False)):
        over[centre, band] = 1
        for row in range(left, centre):
            over[row, band], under[row, band] = row - left, centre - left
        for row in range(centre, right):
            over[row, band], under[row, band] = right - row, right - centre
    kind = BY_CODE[output_datatype]
    wide = kind.name == "double" and weight_precision.ask() == "output"
    narrow = kind.name in ("float16", "bfloat16")
    working = replace(lower_edge_hertz.working, element_type=kind if wide or narrow else SINGLE)
    weights = Numbers.exact(over, working) / Numbers.exact(under, working)
    conversion = weight_conversion.ask() if kind.is_integer else "truncate"
    return answer_of(weights, Choice("saturate"), kind, conversion)


def _edges(lower: Numbers, upper: Numbers, steps: int, count: int) -> Numbers:
    """So many edges in hertz at equal distances of mel, the first at the lower edge.

    They are computed in float32, those of float16 in that type; the formula multiplies and divides by 2595
    and takes powers of ten, which cost some roundings more than the exponentials here.
    """
    given = lower.working.element_type
    own = given if given.name == "float16" else SINGLE
    working = replace(
        lower.working, element_type=own, subnormals=Choice("kept"), accumulation=Choice("input")
    )
    low, high = (_mel(replace(each, working=working).rounded(1, exact=True)) for each in (lower, upper))
    places = Numbers.exact(np.arange(count).astype(object), working)
    others = places * ((high - low) / steps) + low
    mels = low.broadcast((count,)).where(np.arange(count) == 0, others)
    mels = mels.rounded(3, exact=mels.error == 0)
    powers = function_of("exp", mels)
    powers = powers.rounded(
        1, exact=powers.error == 0, ulps=power_ulps(working, ULPS if own is SINGLE else NARROW_ULPS)
    )
    return (powers - 1) * 700


def _mel(hertz: Numbers) -> Numbers:
    """The mel of a frequency over 2595 / ln 10, with the roundings of this factor."""
    found = function_of("log", hertz.reshape((1,)) / 700 + 1)
    return found.rounded(3, exact=found.error == 0)
