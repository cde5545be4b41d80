"""Dropout: elements left out at random, the others scaled; a copy where nothing is trained."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.draws import Drawn, MaskedBy, Repeated, resolution_of, sample
from reference.numbers.numbers import encode, numbers
from reference.readings.choices import AsReading, Choice, OutputCount
from reference.registry import reference_operator
from reference.shared.single_precision import held_float

BOOL = ELEMENT_TYPES["bool"]
TestMode = Annotated[Choice[Literal["copy", "dropout"]], AsReading]
UnsetRatio = Annotated[Choice[Literal["half", "copy"]], AsReading]
_MARGIN = 1.01
"""For products of relative errors, which are not counted."""


@reference_operator("ai.onnx::Dropout", segments=(12, 22))
def dropout(
    data: Tensor,
    ratio: Tensor | float | None = None,
    training_mode: Tensor | None = None,
    *,
    seed: int | None = None,
    version: int,
    outputs: Annotated[int, OutputCount],
    test_mode: TestMode,
    unset_ratio: UnsetRatio,
) -> tuple[Tensor | Answer, ...]:
    """output = data * mask / (1 - ratio), where the mask is false with the probability `ratio`; else a copy.

    Before version 12 nothing in the call says whether it trains, nor what the mask of a copy is.
    Source: Dropout, Summary and Inputs.
    """
    share = _share(ratio)
    if version < 12:
        trains = test_mode.ask() == "dropout"
        if not trains:
            return data, _any_mask(data.shape)
    else:
        trains = training_mode is not None and bool(training_mode.array.reshape(-1)[0])
        unset = trains and ratio is None and version < 22
        if not trains or share == 0 or (unset and unset_ratio.ask() == "copy"):
            return data, Answer(Tensor(BOOL, np.ones(data.shape, np.bool_)))
    known = version >= 12 and not (ratio is None and version < 22)
    coarsest = min(each.layout.precision for each in _types(data, ratio) if each.layout is not None)
    output = _scaled(data, share, coarsest)
    mask = _any_mask(data.shape)
    return _drawn(output, mask, share, seed, outputs, known)


def _share(ratio: Tensor | float | None) -> Fraction:
    if isinstance(ratio, Tensor):
        return Fraction(numbers(ratio.element_type, ratio.array)[0])
    return Fraction(1, 2) if ratio is None else held_float(ratio)


def _types(data: Tensor, ratio: Tensor | float | None) -> list[ElementType]:
    return [data.element_type, ratio.element_type if isinstance(ratio, Tensor) else ELEMENT_TYPES["float"]]


def _any_mask(shape: tuple[int, ...]) -> Answer:
    """A mask of which each element may be either."""
    ones = np.ones(shape, np.bool_)
    return Answer(Tensor(BOOL, ones), None, dict.fromkeys(range(ones.size), (False,)))


def _scaled(data: Tensor, share: Fraction, precision: int) -> Answer:
    """The elements divided by 1 - ratio, or zero; NaN where infinity or NaN is multiplied with zero.

    Four roundings in the coarser of the two types, of ratio, difference, quotient and product, and one of the
    result.
    """
    kind = data.element_type
    values, scale = numbers(kind, data.array), 1 / (1 - share)
    finite = [Fraction(each) * scale if math.isfinite(each) else each for each in values]
    expected = encode(kind, finite)
    relative = float((4 + share * scale) * _MARGIN) * math.ldexp(1.0, -precision)
    least = _least(kind)
    rounded = np.array(list(map(float, numbers(kind, expected))))
    beyond = ~np.isfinite(rounded) & np.array([math.isfinite(each) for each in values], np.bool_)
    allowed = np.where(np.isfinite(rounded), np.abs(rounded) * relative + least, 0.0)
    allowed[beyond] = math.inf
    zeros = tuple(each.item() for each in encode(kind, [0.0, -0.0]))
    with_nan = (*zeros, *(each.item() for each in encode(kind, [math.nan])))
    others = {place: zeros if math.isfinite(each) else with_nan for place, each in enumerate(values)}
    return Answer(Tensor(kind, expected.reshape(data.shape)), allowed.reshape(data.shape), others)


def _least(kind: ElementType) -> float:
    """The least number above 0."""
    assert kind.layout is not None
    return math.ldexp(1.0, kind.layout.least_exponent - kind.layout.precision + 1)


def _drawn(
    output: Answer, mask: Answer, share: Fraction, seed: int | None, outputs: int, known: bool
) -> tuple[Answer, ...]:
    """Both outputs as they are drawn, with what holds of them where it is known that they are."""
    kind, shape = output.expected.element_type, output.expected.shape
    values = np.array(list(map(float, numbers(kind, output.expected.array))))
    assert kind.layout is not None
    least = math.ldexp(1.0, kind.layout.least_exponent)
    told = bool((np.isfinite(values) & (np.abs(values) >= least)).all())
    drawn = Drawn("bernoulli", (float(1 - share),), resolution_of(kind))
    kept = sample(BOOL, shape, drawn)
    shown = output.expected.array.copy()
    shown[~kept.array] = encode(kind, [0.0])[0]
    output = replace(output, shown=Tensor(kind, shown))
    mask = replace(mask, shown=kept)
    if not known or not kept.array.size:
        return output, mask
    again = () if seed is None else (Repeated(),)
    if outputs > 1:
        return replace(output, demands=(MaskedBy(1, told), *again)), replace(mask, demands=(drawn,))
    return replace(output, demands=(*((drawn,) if told else ()), *again)), mask
