"""Windows that slide over spatial extents: which elements each one has, and which of them are padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Mask

Ints = tuple[int, ...] | None
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Windows:
    """All windows in row-major order, one a row, and in it one place for each element of the kernel.

    `places` are flat places in the spatial extents, `inside` where there is an element, `padded` where there
    is one or its padding. `lengths` are how many windows there are along each axis.
    """

    places: Places
    inside: Mask
    padded: Mask
    lengths: tuple[int, ...]

    def gather(self, data: Numbers) -> Numbers:
        """The elements of data of shape (..., spatial extents): (..., windows, kernel), zero outside."""
        lead = data.shape[: data.ndim - len(self.lengths)]
        flat = data.reshape((*lead, prod(data.shape[len(lead) :])))
        if not flat.shape[-1]:
            return Numbers.exact(np.zeros((*lead, *self.places.shape), dtype=object), data.working)
        places = np.where(self.inside, self.places, 0)
        taken = flat.arranged(lambda each: each[..., places])
        return taken.where(np.broadcast_to(self.inside, taken.shape), 0)


@dataclass(frozen=True)
class WindowsAlongAxis:
    """Windows along one axis: how many, the padding before the first one, and all padding."""

    count: int
    begin: int
    total: int


def slide(
    extents: Sequence[int],
    kernel: Sequence[int],
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
) -> Windows:
    """The windows of a convolution or pool; those that would start in the padding at the end are left out."""
    rank = len(extents)
    strides, dilations = strides or (1,) * rank, dilations or (1,) * rank
    pads = pads or (0,) * 2 * rank
    rows = []
    for axis, extent in enumerate(extents):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        own = (pads[axis], pads[axis + rank])
        along = _along(extent, reach, strides[axis], own, auto_pad, ceil_mode)
        start = np.arange(along.count)[:, None] * strides[axis] - along.begin
        place = start + np.arange(kernel[axis]) * dilations[axis]
        rows.append((place, place < extent + along.total - along.begin, along.count))
    return _combined(extents, rows)


def _along(
    extent: int, reach: int, stride: int, pads: tuple[int, int], auto_pad: str, ceil_mode: int
) -> WindowsAlongAxis:
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        count = -(-extent // stride)
        total = max((count - 1) * stride + reach - extent, 0)
        return WindowsAlongAxis(count, total // 2 if auto_pad == "SAME_UPPER" else total - total // 2, total)
    if auto_pad == "VALID":
        return WindowsAlongAxis((extent - reach) // stride + 1, 0, 0)
    begin, end = pads
    room = extent + begin + end - reach
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    while ceil_mode and count > 1 and (count - 1) * stride >= extent + begin:
        count -= 1
    return WindowsAlongAxis(count, begin, begin + end)


def _combined(extents: Sequence[int], rows: Sequence[tuple[Places, Mask, int]]) -> Windows:
    """The windows of all axes together."""
    lengths = tuple(count for *_, count in rows)
    kernel = tuple(place.shape[1] for place, *_ in rows)
    rank = len(rows)
    places = np.zeros((*lengths, *kernel), np.intp)
    inside, padded = np.ones(places.shape, np.bool_), np.ones(places.shape, np.bool_)
    for axis, (place, known, _) in enumerate(rows):
        shape = [1] * 2 * rank
        shape[axis], shape[axis + rank] = place.shape
        here = place.reshape(shape)
        places = places * extents[axis] + here
        inside = inside & (here >= 0) & (here < extents[axis])
        padded = padded & known.reshape(shape)
    flat = (prod(lengths), prod(kernel))
    return Windows(places.reshape(flat), inside.reshape(flat), padded.reshape(flat), lengths)


def spread(
    extents: Sequence[int],
    lengths: Sequence[int],
    kernel: Sequence[int],
    begins: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Windows:
    """For each output place of `lengths` the input places of which a kernel element falls on it.

    Input place i and kernel element k fall on i * stride + k * dilation - begin.
    """
    rows = []
    for axis, length in enumerate(lengths):
        at = np.arange(length)[:, None] + begins[axis] - np.arange(kernel[axis]) * dilations[axis]
        whole = at % strides[axis] == 0
        rows.append((np.where(whole, at // strides[axis], -1), np.ones(at.shape, np.bool_), length))
    return _combined(extents, rows)
