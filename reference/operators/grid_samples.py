"""GridSample: elements of an image at the locations of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Annotated, Any, Literal

import numpy as np

from opcert.vocabulary.element_types import BINARY64, ELEMENT_TYPES, FloatLayout
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, UnstableLength
from reference.answers.number_answers import answer_of
from reference.answers.rounding import convert
from reference.numbers.nearest_floats import nearest_floats
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import BETWEEN_ELEMENTS, Mask, Working, bounded_apart
from reference.readings.choices import AsReading, Choice, stage
from reference.registry import reference_operator
from reference.shared.interpolation.nearest import plain
from reference.shared.interpolation.sampling import (
    Locations,
    Padding,
    clamped,
    in_a_row,
    joined,
    locations,
    means,
    reflected,
    taps_of,
)
from reference.shared.movement import Accumulation, NegativeZeros, Overflow, Subnormals, blank, moved

FLOAT = ELEMENT_TYPES["float"]


def held(given: Tensor, between: Choice[str], overflow: Choice[str]) -> Tensor:
    """A tensor of integers whose elements pass through float32, where `between` is asked and says so.

    Nothing is asked of elements that float32 holds, or of those of other types; `overflow` only where one is
    rounded beyond its type.
    """
    if not given.element_type.is_integer:
        return given
    whole = [int(each) for each in given.array.flat]
    floats = nearest_floats(FLOAT, Rationals.of(np.array(whole, dtype=object))).results.tolist()
    if whole == floats or between.ask() == "exact":
        return given
    low, high = given.element_type.integer_range
    beyond = any(not low <= each <= high for each in floats)
    how = overflow.ask() if beyond else "wrap"
    numbers = [convert(Fraction(each), "truncate", how, low, high) for each in floats]
    return Tensor(given.element_type, np.array(numbers, given.array.dtype).reshape(given.array.shape))


HALF = Fraction(1, 2)
Conversion = Annotated[Choice[Literal["truncate", "floor", "half_even", "half_away", "half_up"]], AsReading]
Between = Annotated[Choice[Literal["exact", "float32"]], AsReading]
CubicBorder = Annotated[Choice[Literal["elements", "locations"]], AsReading]
PartlyOutside = Annotated[Choice[Literal["elements", "locations"]], AsReading]


@reference_operator("ai.onnx::GridSample")
def grid_sample(
    X: Tensor,
    grid: Tensor,
    *,
    align_corners: int = 0,
    mode: str | None = None,
    padding_mode: Padding = "zeros",
    version: int,
    cubic_border: CubicBorder,
    partly_outside: PartlyOutside,
    accumulation_type: Accumulation,
    integers_between: Between,
    integer_conversion: Conversion,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """Elements around the locations, or the nearest ones.

    Source: GridSample, Summary, mode and padding_mode.
    """
    bounded_apart(BETWEEN_ELEMENTS)
    extents = X.shape[2:]
    shape = (*X.shape[:2], *grid.shape[1:-1])
    if not prod(shape):
        return Answer(Tensor(X.element_type, blank(X.element_type, shape)))

    def located(subnormals: Choice[str], accumulation: Choice[str]) -> list[_Axis]:
        given = _located(grid, X, subnormals, accumulation)
        return [
            _along(given, axis, extent, bool(align_corners), padding_mode)
            for axis, extent in enumerate(extents)
        ]

    places = stage("places", (subnormals, accumulation_type), located)
    mode = mode or "linear"
    if mode == "nearest":
        elements = held(X, integers_between, integer_overflow)
        return _nearest(elements, shape, places, padding_mode, version, (subnormals, negative_zeros))
    kernel: Literal["linear", "cubic"] = "cubic" if "cubic" in mode else "linear"
    if X.element_type.kind == "complex":
        asked = _Sampling(kernel, padding_mode, places, cubic_border, partly_outside)
        return _by_component(X, shape, asked, subnormals)
    kind = X.element_type if X.element_type.is_float else FLOAT

    def summed(
        subnormals: Choice[str], accumulation: Choice[str], border: Choice[str], outside: Choice[str]
    ) -> Numbers:
        data = Numbers.of(X, Working(kind, subnormals, accumulation))
        return _Sampling(kernel, padding_mode, places, border, outside).sampled(data, places[0].layout)

    sums = stage("sums", (subnormals, accumulation_type, cubic_border, partly_outside), summed)
    sums = replace(sums.reshape(shape), working=Working(kind, subnormals, accumulation_type))
    return answer_of(sums, integer_overflow, X.element_type, _conversion(X, sums, integer_conversion))


@reference_operator("com.microsoft::GridSample")
def grid_sample_of_one_type(
    X: Tensor,
    Grid: Tensor,
    *,
    align_corners: int = 0,
    mode: str = "bilinear",
    padding_mode: Padding = "zeros",
    cubic_border: CubicBorder,
    partly_outside: PartlyOutside,
    accumulation_type: Accumulation,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> Answer:
    """GridSample of images of floats, as ONNX has it. Source: GridSample, Summary, mode, padding_mode."""
    return grid_sample(
        X, Grid, align_corners=align_corners, mode=mode, padding_mode=padding_mode, version=16,
        cubic_border=cubic_border, partly_outside=partly_outside, accumulation_type=accumulation_type,
        integers_between=Choice("exact"), integer_conversion=Choice("truncate"),
        integer_overflow=Choice("wrap"), subnormals=subnormals, negative_zeros=negative_zeros,
    )  # fmt: skip


def _located(grid: Tensor, X: Tensor, subnormals: Choice[str], accumulation: Choice[str]) -> Numbers:
    """Coordinates are computed in double where all is, else in float32 or a narrower type of the grid."""
    kind = grid.element_type
    if kind.name == "double" and X.element_type.component.name != "double":
        kind = FLOAT
    working = Working(kind, subnormals, accumulation)
    given = Numbers.of(grid, working)
    if grid.element_type.name == "double" and working.layout is not BINARY64:
        given = given.rounded(1, exact=True)
    return given


def _conversion(X: Tensor, sums: Numbers, asked: Choice[str]) -> str:
    if not X.element_type.is_integer:
        return "truncate"
    whole = sums.value.each(lambda top, bottom: top % bottom == 0, np.bool_)
    return asked.option if whole.all() and not sums.error.any() else asked.ask()


@dataclass(frozen=True, eq=False)
class _Axis:
    """Locations along one axis, between the `ends` where the image has its borders."""

    where: Locations
    extent: int
    ends: tuple[Fraction, Fraction]
    layout: FloatLayout


def _along(grid: Numbers, axis: int, extent: int, aligned: bool, padding: Padding) -> _Axis:
    """Where -1 and 1 are the middles of the elements at the corners, or the outer ends of these."""
    rank = grid.shape[-1]
    own = grid.arranged(lambda each: each[..., rank - 1 - axis])
    span = extent - 1 if aligned else extent
    less = 0 if aligned else 1
    first = ((own + 1) * span - less) * HALF
    second = own * Fraction(span, 2) + Fraction(extent - 1, 2)
    both = replace(first, error=np.maximum(first.error, second.error))
    ends = (Fraction(0), Fraction(extent - 1)) if aligned else (-HALF, extent - HALF)
    return _Axis(locations(both, extent, padding), extent, ends, grid.working.layout)


@dataclass(frozen=True, eq=False)
class _Sampling:
    """How elements are weighed around the locations of every axis."""

    kernel: Literal["linear", "cubic"]
    padding: Padding
    axes: list[_Axis]
    cubic_border: Choice[str]
    partly_outside: Choice[str]

    def sampled(self, data: Numbers, layout: FloatLayout) -> Numbers:
        """Of data of shape (N, C, extents): (N, C, locations of one image)."""
        if not data.working.is_float or data.working.layout.precision < layout.precision:
            layout = data.working.layout
        taps, gone, jumps = [], np.zeros(len(self.axes[0].where.exact), np.bool_), None
        for each in self.axes:
            where = each.where
            outside, near = where.beyond(*each.ends)
            if self.padding == "reflection":
                where = reflected(where, *each.ends, each.layout)
            elif self.padding == "border" and self._clamps(where, each):
                inner = clamped(where, 0, each.extent - 1)
                if self.kernel == "cubic":
                    exact = [
                        b if out else a for a, b, out in zip(where.exact, inner.exact, outside, strict=True)
                    ]
                    error = np.where(outside, inner.error, where.error)
                    inner = replace(where, exact=exact, error=error, open=where.open | near)
                where = inner
            elif self.padding == "zeros" and self._partly(where, each, outside | near):
                gone, jumps = gone | outside, near if jumps is None else jumps | near
            args = (each.extent, self.kernel, self.padding, data.working, layout, each.ends)
            taps.append(taps_of(where, *args))
        batch, channels, size = *data.shape[:2], prod(data.shape[2:])
        count = len(gone) // batch if batch else 0
        begins = np.repeat(np.arange(batch) * size, count)
        samples = joined(taps, [each.extent for each in self.axes], self.kernel).shifted(begins)
        sums = means(in_a_row(data), samples, len(self.axes)).where(~gone, 0)
        if jumps is not None:
            sums = opened(sums, jumps)
        return sums.reshape((channels, batch, count)).transposed((1, 0, 2))

    def _clamps(self, where: Locations, axis: _Axis) -> bool:
        """Linear means are the same either way; cubic ones are asked for outside the borders."""
        if self.kernel == "linear":
            return True
        outside, near = where.beyond(*axis.ends)
        return bool((outside | near).any()) and self.cubic_border.ask() == "locations"

    def _partly(self, where: Locations, axis: _Axis, outside: Mask) -> bool:
        """Locations outside the borders, of which a kernel still reaches elements."""
        reach = 1 if self.kernel == "linear" else 2
        near = [-reach < each < axis.extent - 1 + reach for each in where.exact]
        return bool((outside & near).any()) and self.partly_outside.ask() == "locations"


def _by_component(X: Tensor, shape: tuple[int, ...], asked: _Sampling, subnormals: Choice[str]) -> Answer:
    """Real and imaginary parts apart; what is allowed to one is allowed to both."""
    kind = X.element_type.component
    parts = []
    for array in (X.array.real, X.array.imag):
        data = Numbers.of(Tensor(kind, np.ascontiguousarray(array)), Working(kind, subnormals))
        sums = asked.sampled(data, asked.axes[0].layout).reshape(shape)
        parts.append(answer_of(sums, Choice("wrap")))
    real, imaginary = parts
    together = np.empty(shape, dtype=X.element_type.storage)
    together.real, together.imag = real.expected.array, imaginary.expected.array
    assert real.allowed is not None
    assert imaginary.allowed is not None
    if real.alternatives or imaginary.alternatives:
        raise UnstableLength("parts of complex numbers near the greatest one")
    return Answer(Tensor(X.element_type, together), np.maximum(real.allowed, imaginary.allowed))


def _nearest(
    X: Tensor,
    shape: tuple[int, ...],
    axes: list[_Axis],
    padding: Padding,
    version: int,
    movement: tuple[Choice[str], Choice[str]],
) -> Answer:
    """The elements next to the locations; what rounding leaves open is an alternative."""
    array = X.array.reshape((*X.shape[:2], prod(X.shape[2:])))
    batch, channels, count = *shape[:2], prod(shape[2:])
    found = blank(X.element_type, (batch, channels, count))
    alternatives: dict[int, tuple[Any, ...]] = {}
    unknown, nothing = np.zeros(found.shape, dtype=np.bool_), blank(X.element_type, ())[()]
    for image, at in product(range(batch), range(count)):
        chosen = [_candidates(each, image * count + at, padding, version) for each in axes]
        unknown[image, :, at] = any(each.where.open[image * count + at] for each in axes)
        flat = dict.fromkeys(_flat(places, axes) for places in product(*chosen))
        for channel in range(channels):
            values = [nothing if each is None else array[image, channel, each] for each in flat]
            found[image, channel, at] = values[0]
            if len(values) > 1:
                index = (image * channels + channel) * count + at
                alternatives[index] = tuple(plain(each) for each in values[1:])
    answer = moved(Tensor(X.element_type, found.reshape(shape)), *movement, alternatives)
    if not unknown.any():
        return answer
    if not X.element_type.is_float:
        raise UnstableLength("locations of which nothing is known choose elements that are no numbers")
    allowed = np.zeros(shape) if answer.allowed is None else answer.allowed
    return replace(answer, allowed=np.where(unknown.reshape(shape), np.inf, allowed))


def _flat(places: tuple[int | None, ...], axes: list[_Axis]) -> int | None:
    """The place of an element among all of its image; None where there is none."""
    found = 0
    for place, each in zip(places, axes, strict=True):
        if place is None:
            return None
        found = found * each.extent + place
    return found


def _candidates(axis: _Axis, index: int, padding: Padding, version: int) -> list[int | None]:
    """Which places along an axis are nearest, the first one by the text: halves to the even index.

    Of halves nothing was said before version 20; and nothing is of what is rounded first, a location or its
    reflection.
    """
    exact, error = axis.where.exact[index], Fraction(float(axis.where.error[index]))
    low, high = math.ceil(exact - error - HALF), math.floor(exact + error + HALF)
    even = round(exact)
    others = [each for each in range(low, high + 1) if each != even]
    is_half = exact - math.floor(exact) == HALF
    outside = not axis.ends[0] <= exact <= axis.ends[1]
    if not error and is_half and version >= 20 and not (padding == "reflection" and outside):
        others = []
    return list(dict.fromkeys(_placed(axis, each, padding) for each in (even, *others)))


def _placed(axis: _Axis, place: int, padding: Padding) -> int | None:
    """Where padding has an index; None where it has zero."""
    if padding == "border":
        return min(max(place, 0), axis.extent - 1)
    if padding == "zeros" or axis.ends[0] == axis.ends[1]:
        return place if 0 <= place < axis.extent else None
    low, high = axis.ends
    turns, rest = divmod(place - low, high - low)
    return int(low + rest if turns % 2 == 0 else high - rest)
