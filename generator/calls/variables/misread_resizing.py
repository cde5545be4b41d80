"""How a resize is misread: other axes or regions, the output's length by another rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.solver.partial import Bindings
from generator.calls.variables.kind import CallValues, KindChange, KindSubject, ValueChange
from generator.calls.variables.misreadings import axes_changes
from generator.calls.variables.resizing_borders import COORDINATES, CROP

Rule = Callable[[Fraction], int]
_NEAREST = "nearest_mode"
_DOWNSAMPLING = "ceil_downsampling"
_MOST = 1 << 12
"""Longer axes are not computed to explain something."""


def resizing_changes(subject: KindSubject) -> Iterator[KindChange]:
    """The changes of the first input's resize, as far as the version has what they are about."""
    of = subject.spec.inputs[0].name
    if subject.has("axes"):
        yield from axes_changes("axes", lambda given, _: len(given.shape(of)))
    if subject.has(_NEAREST):
        # What version 10 leaves open, and later ones do not list: runtimes keep one rule for all.
        yield ValueChange(
            f"attribute {_NEAREST}={_DOWNSAMPLING}",
            _DOWNSAMPLING,
            lambda _: {_NEAREST: _DOWNSAMPLING},
            subject=_NEAREST,
            breaks=(f"{_NEAREST}_value",),
        )
    if subject.has("roi"):
        for word, text, order in _REGIONS:
            yield ValueChange(f"roi {word}", text, _region_by(order))
    if subject.has("sizes"):
        nothing = None if subject.may_be_omitted("scales") else ()
        for word, text, rule, region in _LENGTHS:
            yield ValueChange(f"length {word}", text, _length_by(of, nothing, rule, region))


def _region_by(order: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[CallValues], Bindings]:
    def change(given: CallValues) -> Bindings:
        roi = given.numbers("roi")
        if roi.size == 0:
            raise ValueError("no region")
        return {"roi": order(roi.reshape(2, -1)).reshape(roi.shape)}

    return change


_REGIONS: tuple[tuple[str, str, Callable[[NDArray[Any]], NDArray[Any]]], ...] = (
    ("whole", "roi ignored (the whole tensor)", lambda pairs: np.zeros_like(pairs) + np.array([[0], [1]])),
    ("pairs", "roi read as pairs of start and end", lambda pairs: pairs.reshape(-1, 2).T),
    ("exchanged", "the starts and ends of roi exchanged", lambda pairs: pairs[::-1]),
)
"""Of the region as starts and ends [2, axes]."""


def _to_nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


_LENGTHS: tuple[tuple[str, str, Rule, bool], ...] = (
    ("floor", "an output length that leaves roi out", math.floor, False),
    ("ceil", "an output length rounded up", math.ceil, True),
    ("round", "an output length rounded to nearest", _to_nearest, True),
    ("ceil whole", "an output length rounded up that leaves roi out", math.ceil, False),
    ("round whole", "an output length rounded to nearest that leaves roi out", _to_nearest, False),
)
"""The rules that make a length of its exact value, with the region of a call that has one, or without."""


def _length_by(of: str, nothing: object, rule: Rule, region: bool) -> Callable[[CallValues], Bindings]:
    """`sizes` in place of `scales`, as a rule makes them; without the region, for calls that have one."""

    def change(given: CallValues) -> Bindings:
        shape = given.shape(of)
        scales = given.numbers("scales").astype(np.float64)
        axes = (
            [int(number) for number in given.numbers("axes")]
            if given.has("axes")
            else list(range(len(shape)))
        )
        if scales.size == 0 or scales.shape != (len(axes),) or given.has("sizes"):
            raise ValueError("not a scale for each axis alone")
        cropped = _cropped(given, len(axes))
        if not region and cropped is None:
            raise ValueError("no region that could be left out")
        spans = cropped if region and cropped is not None else [1.0] * len(axes)
        factors = scales.tolist()
        if not all(map(math.isfinite, [*factors, *spans])):
            raise ValueError("no finite lengths")
        lengths = [
            rule(shape[axis] * Fraction(span) * Fraction(factor))
            for axis, span, factor in zip(axes, spans, factors, strict=True)
        ]
        if not all(0 <= length <= _MOST for length in lengths):
            raise ValueError("no lengths, or longer ones than are computed")
        return {"scales": nothing, "sizes": lengths}

    return change


def _cropped(given: CallValues, count: int) -> Sequence[float] | None:
    """The part of each axis that the call's region has; None where it has none."""
    if not given.has(COORDINATES) or str(given.numbers(COORDINATES)) != CROP or not given.has("roi"):
        return None
    roi = given.numbers("roi").astype(np.float64)
    return (roi[count:] - roi[:count]).tolist() if roi.shape == (2 * count,) else None
