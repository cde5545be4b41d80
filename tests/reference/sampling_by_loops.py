"""GridSample, AffineGrid, RoiAlign and DeformConv by loops, in any arithmetic, and with faults on purpose.

Numbers are of one type, Fraction or a float of numpy, so that the same loops are an oracle and a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Pick = Callable[[tuple[int, ...]], Any]


def exactly(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(float(value))


@dataclass(frozen=True)
class Way:
    """The arithmetic, how coordinates and means are computed, and what is done wrong.

    Beyond a border either locations are brought to it, or elements that a mean takes.
    """

    number: Callable[[Any], Any] = exactly
    by_products: bool = False
    by_steps: bool = False
    multiplied: bool = False
    brings_elements: bool = False
    faults: Collection[str] = ()

    def has(self, fault: str) -> bool:
        return fault in self.faults


EXACT = Way()


def weights(way: Way, rest: Any, mode: str) -> list[Any]:
    """Of the elements around a location, `rest` behind the one at it rounded down."""
    n = way.number
    if mode == "linear":
        return [n(1) - rest, rest]
    a = n(-0.5) if way.has("cubic -0.5") else n(-0.75)

    def near(d: Any) -> Any:
        return ((a + n(2)) * d - (a + n(3))) * d * d + n(1)

    def far(d: Any) -> Any:
        return ((a * d - n(5) * a) * d + n(8) * a) * d - n(4) * a

    return [far(rest + n(1)), near(rest), near(n(1) - rest), far(n(2) - rest)]


def mean(way: Way, pick: Pick, where: Sequence[Any], mode: str) -> Any:
    """Of elements around a location, by products of weights or axis after axis."""
    floors = [math.floor(each) for each in where]
    first = 0 if mode == "linear" else -1
    along = [weights(way, each - way.number(low), mode) for each, low in zip(where, floors, strict=True)]
    if way.by_products:
        total = way.number(0)
        for taps in product(*(range(len(each)) for each in along)):
            weight = way.number(1)
            for own, tap in zip(along, taps, strict=True):
                weight = weight * own[tap]
            place = tuple(low + first + tap for low, tap in zip(floors, taps, strict=True))
            total = total + weight * pick(place)
        return total

    def inner(lead: tuple[int, ...]) -> Any:
        axis = len(lead)
        if axis == len(where):
            return pick(lead)
        values = [inner((*lead, floors[axis] + first + tap)) for tap in range(len(along[axis]))]
        if way.by_steps and mode == "linear":
            return values[0] + along[axis][1] * (values[1] - values[0])
        total = way.number(0)
        for weight, value in zip(along[axis], values, strict=True):
            total = total + weight * value
        return total

    return inner(())


def turned(way: Way, x: Any, low: Any, high: Any) -> Any:
    """Reflected at two ends until it is between them."""
    while not low <= x <= high:
        x = (low + low - x) if x < low else (high + high - x)
    return x


def nearest(x: Any, way: Way) -> int:
    """Halves to the even index, or upwards by mistake."""
    low: int = math.floor(x)
    rest = x - way.number(low)
    half = way.number(0.5)
    if rest == half:
        return low + 1 if way.has("ties upwards") else low + low % 2
    return low + int(rest > half)


def grid_sample(
    way: Way, X: Array, grid: Array, mode: str, padding: str, aligned: int, border: str = "elements"
) -> Array:
    n, extents = way.number, X.shape[2:]
    if way.has("align_corners ignored"):
        aligned = 0
    found = np.empty((*X.shape[:2], *grid.shape[1:-1]), dtype=object)
    for image in range(X.shape[0]):
        for at in np.ndindex(grid.shape[1:-1]):
            given = [n(each) for each in grid[(image, *at)]]
            if not way.has("x and y exchanged"):
                given = given[::-1]
            where, ends = [], []
            for g, extent in zip(given, extents, strict=True):
                span = extent - 1 if aligned else extent
                if way.multiplied:
                    x = g * n(span / 2) + n((extent - 1) / 2)
                else:
                    x = ((g + n(1)) * n(span) - n(0 if aligned else 1)) / n(2)
                x = x + n(0.5) if way.has("half a pixel off") else x
                low, high = (n(0), n(extent - 1)) if aligned else (n(-0.5), n(extent - 0.5))
                if way.has("reflected at the middles"):
                    low, high = n(0), n(extent - 1)
                if way.has("reflected at the outer ends"):
                    low, high = n(-0.5), n(extent - 0.5)
                if padding == "reflection":
                    x = turned(way, x, low, high)
                linear = mode == "nearest" or (mode == "linear" and not way.brings_elements)
                if padding == "border" and (
                    linear or (mode == "cubic" and border == "locations" and not low <= x <= high)
                ):
                    x = min(max(x, n(0)), n(extent - 1))
                where.append(x)
                ends.append((low, high))
            for channel in range(X.shape[1]):
                pick = _pick(way, X[image, channel], padding, ends)
                if mode == "nearest":
                    value = pick(tuple(nearest(each, way) for each in where))
                else:
                    value = mean(way, pick, where, mode)
                found[(image, channel, *at)] = value
    return found


def _pick(way: Way, image: Array, padding: str, ends: Sequence[tuple[Any, Any]]) -> Pick:
    def pick(place: tuple[int, ...]) -> Any:
        inside = []
        for at, extent, (low, high) in zip(place, image.shape, ends, strict=True):
            if padding == "zeros" and not 0 <= at < extent:
                return way.number(0)
            if padding == "reflection":
                at = int(turned(way, way.number(at), low, high))
            inside.append(min(max(at, 0), extent - 1))
        return way.number(image[tuple(inside)])

    return pick


def affine_grid(way: Way, theta: Array, size: Sequence[int], aligned: int) -> Array:
    n, extents = way.number, size[2:]
    if way.has("align_corners ignored"):
        aligned = 0
    found = np.empty((size[0], *extents, len(extents)), dtype=object)

    def along(index: int, extent: int) -> Any:
        if aligned:
            if extent == 1:
                return n(0)
            if way.multiplied:
                return n(index) * (n(2) / n(extent - 1)) - n(1)
            return n(2 * index) / n(extent - 1) - n(1)
        if way.multiplied:
            step = n(2) / n(extent)
            return n(index) * step + (step / n(2) - n(1))
        return n(2 * index + (0 if way.has("half a pixel off") else 1)) / n(extent) - n(1)

    for image, *at in np.ndindex(size[0], *extents):
        place = [along(index, extent) for index, extent in zip(at, extents, strict=True)]
        place = place if way.has("x and y exchanged") else place[::-1]
        terms = [*place, n(0) if way.has("translation forgotten") else n(1)]
        rows = (
            theta[image].T
            if way.has("transposed") and len(extents) + 1 == len(theta[image])
            else theta[image]
        )
        for row in range(len(extents)):
            total = n(0)
            pairs = list(zip(rows[row], terms, strict=True))
            for weight, term in pairs[::-1] if way.by_steps else pairs:
                total = total + n(weight) * term
            found[(image, *at, row)] = total
    return found


def roi_align(
    way: Way, X: Array, rois: Array, images: Sequence[int], given: Mapping[str, Any], of: str = "samples"
) -> Array:
    n = way.number
    high, wide = given.get("output_height", 1), given.get("output_width", 1)
    shift = n(0.5) if given.get("coordinate_transformation_mode", "half_pixel") == "half_pixel" else n(0)
    if way.has("half a pixel off"):
        shift = n(0.5) - shift
    scale = n(np.float32(given.get("spatial_scale", 1.0)))
    found = np.empty((len(rois), X.shape[1], high, wide), dtype=object)
    for region, image in enumerate(images):
        corners = [n(each) * scale - shift for each in rois[region]]
        if way.has("x and y exchanged"):
            corners = [corners[each] for each in (1, 0, 3, 2)]
        ends = [(corners[1], corners[3]), (corners[0], corners[2])]
        axes = []
        for (start, end), bins in zip(ends, (high, wide), strict=True):
            length = end - start
            if (shift == 0) != way.has("the least extent the other way"):
                length = max(length, n(1))
            size = length / n(bins)
            count = given.get("sampling_ratio", 0) or math.ceil(size)
            if way.has("one sample less"):
                count = max(count - 1, 1)
            middle = n(0) if way.has("samples at the beginnings") else n(0.5)
            if way.multiplied:
                where = [
                    [start + size * (n(b) + (n(i) + middle) / n(count)) for i in range(count)]
                    for b in range(bins)
                ]
            else:
                where = [
                    [start + n(b) * size + (n(i) + middle) * size / n(count) for i in range(count)]
                    for b in range(bins)
                ]
            axes.append(where)
        for channel, y, x in np.ndindex(X.shape[1], high, wide):
            samples = [
                _sample(way, X[image, channel], (row, column), of)
                for row in axes[0][y]
                for column in axes[1][x]
            ]
            if given.get("mode", "avg") == "max" and not way.has("mean for max"):
                found[region, channel, y, x] = max(samples)
                continue
            total = n(0)
            for sample in samples:
                total = total + sample
            found[region, channel, y, x] = total / n(len(samples))
    return found


def _sample(way: Way, image: Array, where: tuple[Any, Any], of: str) -> Any:
    """The nearest location inside where it is at most one element outside, else zero."""
    n = way.number
    if any(not n(-1) <= each <= n(extent) for each, extent in zip(where, image.shape, strict=True)):
        return n(0)
    inner = [min(max(each, n(0)), n(extent - 1)) for each, extent in zip(where, image.shape, strict=True)]
    pick = _pick(way, image, "border", [(n(0), n(0))] * 2)
    if of == "samples" and way.brings_elements:
        return mean(way, pick, where, "linear")
    if of == "samples":
        return mean(way, pick, inner, "linear")
    floors = [math.floor(each) for each in inner]
    along = [weights(way, each - n(low), "linear") for each, low in zip(inner, floors, strict=True)]
    return max(
        along[0][i] * along[1][j] * pick((floors[0] + i, floors[1] + j))
        for i, j in product(range(2), range(2))
    )


def deform_conv(
    way: Way, X: Array, W: Array, offset: Array, B: Array | None, mask: Array | None, given: dict[str, Any]
) -> Array:
    n, rank, kernel, lengths = way.number, X.ndim - 2, W.shape[2:], offset.shape[2:]
    group, parts = given.get("group", 1), given.get("offset_group", 1)
    strides, dilations = given.get("strides", [1] * rank), given.get("dilations", [1] * rank)
    pads = given.get("pads", [0] * 2 * rank)
    steps = math.prod(kernel)
    found = np.empty((X.shape[0], W.shape[0], *lengths), dtype=object)
    own = X.shape[1] // group
    for image, feature, *at in np.ndindex(X.shape[0], W.shape[0], *lengths):
        total = n(0) if B is None or way.has("bias forgotten") else n(B[feature])
        first = feature // (W.shape[0] // group) * own
        for c, step in product(range(own), range(steps)):
            channel, place = first + c, np.unravel_index(step, kernel)
            part = 0 if way.has("first offset group alone") else channel // (X.shape[1] // parts)
            where = []
            for axis in range(rank):
                number = rank - 1 - axis if way.has("offsets exchanged") else axis
                moved = offset[(image, (part * steps + step) * rank + number, *at)]
                spread = 1 if way.has("dilations forgotten") else dilations[axis]
                base = at[axis] * strides[axis] - pads[axis] + int(place[axis]) * spread
                where.append(n(base) + n(moved))
            value = mean(way, _pick(way, X[image, channel], "zeros", [(n(0), n(0))] * rank), where, "linear")
            if way.has("offsets rounded"):
                value = _pick(way, X[image, channel], "zeros", [(n(0), n(0))] * rank)(
                    tuple(nearest(each, way) for each in where)
                )
            if mask is not None and not way.has("mask forgotten"):
                value = value * n(mask[(image, part * steps + step, *at)])
            total = total + value * n(W[(feature, c, *place)])
        found[(image, feature, *at)] = total
    return found
