"""NonMaxSuppression: boxes that overlap too much with boxes of higher scores are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BINARY32, ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, UnstableLength
from reference.numbers.numbers import decode, is_representable
from reference.numbers.working import COMPARISONS, bounded_apart
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator

_UNIT = Fraction(1, 1 << 21)
"""Several times what float32 rounds a coordinate, an extent, an area or a quotient by."""
Flat = Choice[Literal["none", "whole"]]
Omitted = Choice[Literal["keeps_all", "keeps_zero", "keeps_positive"]]
AtThreshold = Choice[Literal["kept", "removed"]]


@reference_operator("ai.onnx::NonMaxSuppression")
def suppress_overlaps(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: int = 0,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    *,
    center_point_box: int = 0,
    omitted_threshold: Annotated[Omitted, AsReading],
    overlap_of_flat_boxes: Annotated[Flat, AsReading],
    score_at_threshold: Annotated[AtThreshold, AsReading],
) -> Answer:
    """[batch, class, box] of what is selected, a set; boxes whose overlap is at the threshold are kept.

    UnstableLength where rounding, or the order of equal scores, decides what is selected.
    Source: NonMaxSuppression, Summary and Inputs.
    """
    bounded_apart(COMPARISONS)
    overlap = _fractions(iou_threshold)[0] if iou_threshold is not None else Fraction(0)
    least = _fractions(score_threshold)[0] if score_threshold is not None else None
    batches, classes, count = scores.shape
    corners, weights = _fractions(boxes), _fractions(scores)
    if least is None and min(weights, default=Fraction(1)) <= 0:
        least = _least_without_threshold(weights, omitted_threshold.ask())
    elif least in weights and score_at_threshold.ask() == "removed":
        # What is above the threshold is no less than the least score that is.
        least = min((each for each in weights if each > least), default=max(weights) + 1)
    found = []
    for batch in range(batches):
        first = batch * count
        areas = [_box(corners[4 * at : 4 * at + 4], center_point_box) for at in range(first, first + count)]
        for chosen in range(classes):
            start = (batch * classes + chosen) * count
            own = weights[start : start + count]
            places = _selected(areas, own, max_output_boxes_per_class, overlap, least, overlap_of_flat_boxes)
            found += [(batch, chosen, place) for place in places]
    array = np.array(found, dtype=np.int64).reshape(len(found), 3)
    return Answer(Tensor(ELEMENT_TYPES["int64"], array), unordered=True)


def _least_without_threshold(scores: Sequence[Fraction], option: str) -> Fraction | None:
    if option == "keeps_all":
        return None
    positive = min((each for each in scores if each > 0), default=Fraction(1))
    return positive if option == "keeps_positive" else Fraction(0)


@dataclass(frozen=True)
class _Box:
    """Lower and upper ends along both axes, and how far a program may hold them from these."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    apart: Fraction


def _fractions(given: Tensor) -> list[Fraction]:
    decoded = decode(given.element_type, given.array)
    if not decoded.finite.all():
        raise UnstableLength("what is no number decides which boxes are selected")
    return [Fraction(each) * decoded.scale for each in decoded.integers.reshape(-1).tolist()]


def _box(numbers: Sequence[Fraction], centred: int) -> _Box:
    if not centred:
        y, x, other_y, other_x = numbers
        return _Box(((min(y, other_y), max(y, other_y)), (min(x, other_x), max(x, other_x))), Fraction(0))
    x, y, wide, high = numbers
    ends = (y - high / 2, y + high / 2), (x - wide / 2, x + wide / 2)
    exact = all(_is_held(each) for pair in ends for each in pair)
    return _Box(ends, Fraction(0) if exact else _UNIT * max(abs(each) for pair in ends for each in pair))


def _selected(
    boxes: Sequence[_Box],
    scores: Sequence[Fraction],
    most: int,
    overlap: Fraction,
    least: Fraction | None,
    flat: Flat,
) -> list[int]:
    """The places of the boxes of one class that are selected, those of higher scores first."""

    def suppresses(at: int, other: int) -> bool:
        return _beyond(boxes[at], boxes[other], overlap, flat)

    candidates = [at for at, score in enumerate(scores) if least is None or score >= least]
    found: list[int] = []
    for _, group in groupby(sorted(candidates, key=lambda at: (-scores[at], at)), key=lambda at: scores[at]):
        room = most - len(found)
        if room <= 0:
            break
        left = [at for at in group if not any(suppresses(at, other) for other in found)]
        several = any(suppresses(at, other) for at in left for other in left if at < other)
        if several or len(left) > room:
            raise UnstableLength("the order of equal scores decides which boxes are selected")
        found += left
    return found


def _beyond(box: _Box, other: _Box, threshold: Fraction, flat: Flat) -> bool:
    """Whether the intersection over the union is greater than a threshold."""
    low, high = _overlaps(box, other, flat)
    if (low > threshold) != (high > threshold):
        raise UnstableLength("rounding decides whether two boxes overlap by more than the threshold")
    return low > threshold


def _overlaps(box: _Box, other: _Box, flat: Flat) -> tuple[Fraction, Fraction]:
    """The least and the greatest intersection over union that a program may compute.

    Of two boxes without area no text says anything: 0, or 1, is asked.
    """
    shared, areas, steps = Fraction(1), [Fraction(1), Fraction(1)], list[Fraction]()
    for ours, theirs in zip(box.ends, other.ends, strict=True):
        both = max(min(ours[1], theirs[1]) - max(ours[0], theirs[0]), Fraction(0))
        shared *= both
        extents = [ours[1] - ours[0], theirs[1] - theirs[0]]
        areas = [area * extent for area, extent in zip(areas, extents, strict=True)]
        steps += [both, *extents]
    both_areas = areas[0] + areas[1]
    union = both_areas - shared
    if union == 0:
        alone = Fraction(int(flat.ask() == "whole"))
        return alone, alone
    ratio = shared / union
    exact = all(_is_held(each) for each in (*steps, *areas, shared, both_areas, union, ratio))
    moved = 2 * (box.apart + other.apart)
    if exact and not moved:
        return ratio, ratio
    if not moved:
        return ratio * (1 - 8 * _UNIT), ratio * (1 + 8 * _UNIT)
    longest = max((*steps, moved))
    apart = 8 * moved * longest + 8 * _UNIT * max(*areas, shared)
    return (shared - apart) / (union + apart), (shared + apart) / max(union - apart, union / 1024)


def _is_held(value: Fraction) -> bool:
    """Whether float32 holds it exactly."""
    return is_representable(BINARY32, value.numerator, value.denominator)
