"""RoiAlign: means, or the greatest, of elements sampled in the bins of regions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from operator import itemgetter
from typing import Annotated, Literal

import numpy as np

from reference.answers import OutsideDomain, UnstableLength
from reference.answers.orders import NanReading, greater_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import beside
from reference.numbers.working import BETWEEN_ELEMENTS, bounded_apart
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.extremes import greatest
from reference.shared.interpolation.sampling import (
    Locations,
    Places,
    Taps,
    clamped,
    in_a_row,
    joined,
    locations,
    means,
    taps_of,
)
from reference.sums.summation import mean_of, total

BeyondBorder = Annotated[Choice[Literal["zero_beyond_one", "nearest", "zeros"]], AsReading]
LeastExtent = Annotated[Choice[Literal["one", "none"]], AsReading]
GreatestOf = Annotated[Choice[Literal["samples", "weighted_elements"]], AsReading]
HALF = Fraction(1, 2)


@reference_operator("ai.onnx::RoiAlign")
def roi_align(
    X: Numbers,
    rois: Numbers,
    batch_indices: tuple[int, ...],
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: Fraction = Fraction(1),
    version: int,
    beyond_border: BeyondBorder,
    least_extent: LeastExtent,
    greatest_of: GreatestOf,
    nan_in_max_min: NanReading,
) -> Numbers:
    """Each region in bins, each bin sampled at the middles of equal parts. Source: RoiAlign, Attributes."""
    bounded_apart(BETWEEN_ELEMENTS)
    shifted = version >= 16 and coordinate_transformation_mode == "half_pixel"
    corners = rois * spatial_scale - (HALF if shifted else 0)
    begins = corners.arranged(lambda each: each[:, :2])
    ends = corners.arranged(lambda each: each[:, 2:])
    extents = ends - begins
    if not shifted and _may_be_below_one(extents) and least_extent.ask() == "one":
        extents = greater_of(extents, extents.lift(1), nan_in_max_min)
    if not batch_indices:
        return Numbers.exact(np.zeros((0, X.shape[1], output_height, output_width), dtype=object), X.working)
    lengths = [
        extents.arranged(itemgetter((slice(None), slice(1 - axis, 2 - axis)))) / bins
        for axis, bins in enumerate((output_height, output_width))
    ]
    counts = list(zip(*(_samples(each, sampling_ratio) for each in lengths), strict=True))
    data, images = in_a_row(X), np.array(batch_indices) * prod(X.shape[2:])
    how = _Sampling(X.shape[2:], beyond_border, mode, greatest_of, nan_in_max_min)
    pooled, order = [], list[int]()
    for asked in dict.fromkeys(counts):
        chosen = [region for region, count in enumerate(counts) if count == asked]
        axes = [
            _bins(_of(begins, chosen, 1 - axis), _of(lengths[axis], chosen, 0), bins, asked[axis])
            for axis, bins in enumerate((output_height, output_width))
        ]
        pooled.append(how.pooled(data, axes, images[chosen]))
        order += chosen
    back = [order.index(region) for region in range(len(order))]
    return beside(*pooled).arranged(itemgetter((..., back))).transposed((3, 0, 1, 2))


def _of(table: Numbers, regions: Sequence[int], column: int) -> Numbers:
    """A column of some rows, with an axis for bins and one for samples."""
    return table.arranged(lambda each: each[regions, column][:, None, None])


def _may_be_below_one(extents: Numbers) -> bool:
    return bool((extents.value.spread(extents.shape).floats() < 1 + extents.error).any())


@dataclass(frozen=True, eq=False)
class _Bins:
    """The locations of samples along one axis, (regions, bins, samples of each)."""

    places: Numbers
    bins: int
    each: int


def _samples(lengths: Numbers, ratio: int) -> list[int]:
    """How many samples the bins of each region have: the ratio, or as many as they are long, rounded up.

    Raises UnstableLength where rounding decides it.
    """
    found = []
    for exact, error in zip(lengths.value.spread(lengths.shape).fractions(), lengths.error.flat, strict=True):
        count, apart = math.ceil(exact), Fraction(float(error))
        if not ratio and apart and (math.ceil(exact - apart), math.ceil(exact + apart)) != (count, count):
            raise UnstableLength("rounding decides how many samples a bin has")
        if not ratio and count < 1:
            raise OutsideDomain("a bin without samples has no mean")
        found.append(ratio or count)
    return found


def _bins(start: Numbers, length: Numbers, bins: int, count: int) -> _Bins:
    """Equal bins of regions, with samples at the middles of equal parts."""
    working = start.working
    number = Numbers.exact(np.arange(bins).astype(object).reshape(bins, 1), working)
    middle = Numbers.exact(np.array([each + HALF for each in range(count)], dtype=object), working)
    first = start + length * number + length * middle / count
    second = start + length * (middle / count + number)
    return _Bins(replace(first, error=np.maximum(first.error, second.error)), bins, count)


@dataclass(frozen=True, eq=False)
class _Sampling:
    """What becomes of locations beyond the border, and of the samples of a bin."""

    extents: Sequence[int]
    beyond: Choice[str]
    mode: str
    greatest_of: Choice[str]
    nan: NanReading

    def pooled(self, data: Numbers, axes: Sequence[_Bins], begins: Places) -> Numbers:
        """Of data of shape (channels, places), regions: (channels, bins, bins, regions)."""
        rows, columns = axes
        of_elements = self.mode == "max" and self.greatest_of.ask() == "weighted_elements"
        samples = joined(self._paired(data, axes, len(begins), alone=of_elements), self.extents, "linear")
        samples = samples.shifted(np.repeat(begins, len(samples.open) // len(begins)))
        shape = (data.shape[0], len(begins), rows.bins, rows.each, columns.bins, columns.each)
        if of_elements:
            taken = samples.taken(data)
            strange = (~taken.finite).any(axis=-1) | samples.open
            products = opened(taken * samples.weights, strange[..., None])
            found = greatest(products.reshape((*shape, samples.weights.shape[1])), (3, 5, 6), self.nan)
        else:
            found = means(data, samples, len(axes)).reshape(shape)
            if self.mode == "max":
                found = greatest(found, (3, 5), self.nan)
            else:
                found = mean_of(total(found, (3, 5)), rows.each * columns.each)
        return found.transposed((0, 2, 3, 1))

    def _paired(self, data: Numbers, axes: Sequence[_Bins], regions: int, *, alone: bool) -> list[Taps]:
        """The taps of every sample along both axes."""
        counts = [each.bins * each.each for each in axes]
        region, *places = np.indices((regions, *counts)).reshape(1 + len(axes), -1)
        found = []
        for each, extent, count, place in zip(axes, self.extents, counts, places, strict=True):
            found.append(self._taps(each, extent, data, alone=alone).at(region * count + place))
        return found

    def _taps(self, axis: _Bins, extent: int, data: Numbers, *, alone: bool) -> Taps:
        where = locations(axis.places, extent, "border")
        outside, near = where.beyond(0, extent - 1)
        rule = self.beyond.ask() if (outside | near).any() else "nearest"
        layout = data.working.layout
        if rule == "zeros":
            return taps_of(where, extent, "linear", "zeros", data.working, layout, alone=alone)
        inner = clamped(where, 0, extent - 1)
        taps = taps_of(inner, extent, "linear", "border", data.working, layout, alone=alone)
        return taps if rule == "nearest" else _without(taps, where, extent)


def _without(taps: Taps, where: Locations, extent: int) -> Taps:
    """What is more than one element outside counts as zero; at that place either does."""
    gone, near = where.beyond(-1, extent)
    near = near | np.array([each in (-1, extent) for each in where.exact], dtype=np.bool_)
    weights = taps.weights.where(~gone[:, None], 0)
    size = np.abs(taps.weights.value.spread(weights.shape).floats()) + taps.weights.error
    return replace(taps, weights=replace(weights, error=np.where(near[:, None], size, weights.error)))
