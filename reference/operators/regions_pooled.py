"""MaxRoiPool: the greatest elements of the parts of regions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from operator import itemgetter
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reference.answers.orders import NanReading, below
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import stacked
from reference.numbers.working import COMPARISONS, Floats, bounded_apart, rounded_up
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.extremes import greatest

RegionEnds = Annotated[Choice[Literal["included", "left_out"]], AsReading]
RegionParts = Annotated[Choice[Literal["overlapping", "apart"]], AsReading]
HALF = Fraction(1, 2)
ABOUT = (1 - Fraction(1, 1 << 20), 1 + Fraction(1, 1 << 20))
"""Where a part begins whose extent is no number of any type, in multiples of where it should."""


@dataclass(frozen=True)
class _Range:
    """Elements along an axis: those from `first` on that are before `behind`."""

    first: int
    behind: int


@reference_operator("ai.onnx::MaxRoiPool")
def max_roi_pool(
    X: Numbers,
    rois: Numbers,
    *,
    pooled_shape: tuple[int, ...],
    spatial_scale: Fraction = Fraction(1),
    region_ends: RegionEnds,
    region_parts: RegionParts,
    nan_in_max_min: NanReading,
) -> Numbers:
    """The greatest element of each part of each region; anything where rounding decides what is in a part.

    Source: MaxRoiPool, Summary, spatial_scale, rois.
    """
    bounded_apart(COMPARISONS)
    images = [int(each) for each in rois.value.spread(rois.shape).floats().reshape(-1, 5)[:, 0]]
    corners = rois.arranged(lambda each: each[:, 1:]) * spatial_scale
    places = np.array(corners.value.spread(corners.shape).fractions(), dtype=object).reshape(-1, 4)
    pooled = []
    for image, region, off in zip(images, places, corners.error.reshape(-1, 4), strict=True):
        data = X.arranged(itemgetter(image))
        axes = [
            _parts(_lengths(region[1 - axis :: 2], off[1 - axis :: 2], region_ends), parts, region_parts)
            for axis, parts in enumerate(pooled_shape)
        ]
        pooled += [_greatest(data, rows, columns, nan_in_max_min) for rows, columns in product(*axes)]
    if not pooled:
        return Numbers.exact(np.zeros((0, X.shape[1], *pooled_shape), dtype=object), X.working)
    return stacked(pooled).reshape((X.shape[1], len(images), *pooled_shape)).transposed((1, 0, 2, 3))


def _elements(place: Fraction, error: float) -> set[int]:
    """The elements that a corner may be in: it is rounded down, or to the nearest one."""
    apart = Fraction(float(error))
    return {math.floor(place + side + add) for side in (-apart, apart) for add in (0, HALF)}


def _lengths(corners: NDArray[Any], errors: Floats, ends: Choice[str]) -> set[tuple[int, int]]:
    """The first elements that a region may have along an axis, each with how many: one at least."""
    firsts, lasts = map(_elements, corners, errors)
    more = ends.ask() == "included"
    return {(first, max(last - first + more, 1)) for first, last in product(firsts, lasts)}


def _parts(lengths: set[tuple[int, int]], parts: int, how: Choice[str]) -> Iterator[tuple[_Range, _Range]]:
    """For each part of a region along an axis the elements that are surely in it, and all that may be.

    `lengths` are the first elements that the region may have, each with how many it has.
    """
    for number in range(parts):
        found = []
        for first, length in lengths:
            low, high = Fraction(number * length, parts), Fraction((number + 1) * length, parts)
            for about in ABOUT if length % parts else (1,):
                if length % parts and how.ask() == "apart":
                    ends = [(low * about + add, high * about + add) for add in (0, HALF)]
                else:
                    ends = [(low * about, Fraction(math.ceil(high * about)))]
                found += [_range(first, length, *each) for each in ends]
        firsts, behinds = {each.first for each in found}, {each.behind for each in found}
        yield _Range(max(firsts), min(behinds)), _Range(min(firsts), max(behinds))


def _range(first: int, length: int, low: Fraction, high: Fraction) -> _Range:
    """The elements of a part between two places behind the first element of a region: one at least."""
    begin = min(math.floor(low), length - 1)
    return _Range(first + begin, first + max(math.floor(high), begin + 1))


def _greatest(
    image: Numbers, rows: tuple[_Range, _Range], columns: tuple[_Range, _Range], nan: NanReading
) -> Numbers:
    """Of a part of an image the greatest of each channel, or less where an element is that may be in it.

    Anything where that is no number, or one of those without it is none.
    """
    if rows[0] == rows[1] and columns[0] == columns[1]:
        return _greatest_in(image, rows[0], columns[0], nan)
    surely, most = (_greatest_in(image, *each, nan) for each in zip(rows, columns, strict=True))
    if not _holds(rows[0], image.shape[1]) or not _holds(columns[0], image.shape[2]):
        # One of all of them is in it: it is no less than the least.
        surely = -_greatest_in(-image, rows[1], columns[1], nan)
    differs = below(surely, most) | (np.isnan(surely.sign) != np.isnan(most.sign))
    if not differs.any():
        return most
    apart = rounded_up(np.abs((most.value - surely.value).floats()) + most.error + surely.error)
    found = replace(most, error=np.where(differs, apart, most.error))
    return opened(found, differs & ~(most.finite & surely.finite))


def _holds(part: _Range, extent: int) -> bool:
    return max(part.first, 0) < min(part.behind, extent)


def _greatest_in(image: Numbers, rows: _Range, columns: _Range, nan: NanReading) -> Numbers:
    down, across = (slice(max(each.first, 0), each.behind) for each in (rows, columns))
    return greatest(image.arranged(lambda each: each[:, down, across]), (1, 2), nan)
