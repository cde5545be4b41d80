"""Functions on windows: convolutions, pools, blocks of images and what undoes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

Numbers = Sequence[int] | None


def _of_each_axis(
    rank: int, kernel: Sequence[int], strides: Numbers, dilations: Numbers, pads: Numbers
) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations and pads, where left out 1, 1 and 0; ValueError where they are not one an axis."""
    steps = list(strides) if strides is not None else [1] * rank
    spread = list(dilations) if dilations is not None else [1] * rank
    around = list(pads) if pads is not None else [0] * 2 * rank
    if not len(kernel) == len(steps) == len(spread) == rank or len(around) != 2 * rank:
        raise ValueError("not a number for each axis")
    return steps, spread, around


@dataclass(frozen=True)
class _AxisWindow:
    """A kernel of `kernel` elements, `dilation` apart, moved by `stride` over an extent with padding."""

    extent: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def reach(self) -> int:
        """How many places the kernel spans."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def room(self) -> int:
        """By how many places it can be moved."""
        return self.extent + self.begin + self.end - self.reach


def _axis_windows(
    extents: Sequence[int], kernel: Sequence[int], strides: Numbers, dilations: Numbers, pads: Numbers
) -> list[_AxisWindow]:
    """One an axis. Left out: strides and dilations of 1, no pads.

    ValueError where the lists are not of one number an axis, or a number is not positive that should be.
    """
    rank = len(extents)
    steps, spread, around = _of_each_axis(rank, kernel, strides, dilations, pads)
    if any(length < 1 for length in (*kernel, *spread, *steps)):
        raise ValueError("not a positive number for each axis")
    return [
        _AxisWindow(extent, kernel[at], steps[at], spread[at], around[at], around[at + rank])
        for at, extent in enumerate(extents)
    ]


def block_count(
    image: Sequence[int], block: Sequence[int], strides: Numbers, pads: Numbers, dilations: Numbers
) -> int:
    """The product over all axes of the places of a dilated block in the padded image.

    Left out: strides and dilations of 1, no pads. ValueError where the lists are not of one number an axis,
    or a number is none that it may be.
    """
    rank = len(image)
    steps, spread, around = _of_each_axis(rank, block, strides, dilations, pads)
    if min([*image, *block, *steps, *spread], default=1) < 1 or min(around, default=0) < 0:
        raise ValueError("a number that is none of these")
    room = [
        image[at] + around[at] + around[at + rank] - (block[at] - 1) * spread[at] - 1 for at in range(rank)
    ]
    return prod(each // steps[at] + 1 if each >= 0 else 0 for at, each in enumerate(room))


def output_padding_fits(added: Sequence[int], strides: Numbers, dilations: Numbers) -> bool:
    """Whether each number is less than the greater of the axis's stride and dilation (1 where left out).

    ValueError where the lists are of other lengths, or not of numbers that these may be.
    """
    steps, spread, _ = _of_each_axis(len(added), added, strides, dilations, None)
    if min([*steps, *spread, 1]) < 1 or min([*added, 0]) < 0:
        raise ValueError("not a number for each axis")
    return all(each < max(pair) for each, pair in zip(added, zip(steps, spread, strict=True), strict=True))


def same_padding_fits(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    pads: Numbers,
    auto_pad: str | None,
) -> bool:
    """Whether the windows reach over all that there is, so that what is added is not below nothing.

    Left out: strides and dilations of 1. ValueError where the lists are not of one number an axis.
    """
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        return True
    return all(
        (axis_window.extent - 1) // axis_window.stride * axis_window.stride + axis_window.reach
        >= axis_window.extent
        for axis_window in _axis_windows(extents, kernel, strides, dilations, pads)
    )


def spread_lengths(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    added: Numbers,
    pads: Numbers,
    auto_pad: str,
) -> list[int]:
    """The length along each axis; with SAME that of the extent times the stride.

    Left out: strides and dilations of 1, nothing added, no pads. ValueError where the lists are not of one
    number an axis.
    """
    rank = len(extents)
    steps, spread, around = _of_each_axis(rank, kernel, strides, dilations, pads)
    more = list(added) if added is not None else [0] * rank
    if len(more) != rank:
        raise ValueError("not a number for each axis")
    if auto_pad.startswith("SAME"):
        return [extent * step for extent, step in zip(extents, steps, strict=True)]
    return [
        steps[at] * (extents[at] - 1)
        + more[at]
        + (kernel[at] - 1) * spread[at]
        + 1
        - around[at]
        - around[at + rank]
        for at in range(rank)
    ]


def unpooled(shape: Sequence[int], kernel: Sequence[int], strides: Numbers, pads: Numbers) -> list[int]:
    """The shape that a pool with this window makes `shape` of: two axes, and as many as the kernel has.

    Left out: strides of 1, no pads. ValueError where the lists are not of one number an axis.
    """
    rank = len(shape) - 2
    steps, _, around = _of_each_axis(rank, kernel, strides, None, pads)
    spatial = [
        (shape[2 + at] - 1) * steps[at] + kernel[at] - around[at] - around[at + rank] for at in range(rank)
    ]
    return [*shape[:2], *spatial]


def valid_leaves_nothing(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    pads: Numbers,
    auto_pad: str | None,
    ceil_mode: int | None,
) -> bool:
    """Whether strides divide what VALID windows are moved over, where ceil_mode asks to round up.

    Left out: strides and dilations of 1. ValueError where the lists are not of one number an axis.
    """
    if auto_pad != "VALID" or not ceil_mode:
        return True
    windows = _axis_windows(extents, kernel, strides, dilations, pads)
    return all((window.extent - window.reach) % window.stride == 0 for window in windows)


def window_counts(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    pads: Numbers,
    auto_pad: str | None,
    ceil_mode: int | None = 0,
) -> list[int]:
    """The number of windows of a convolution or pool; none begins in the padding at the end.

    Left out: strides and dilations of 1, no pads. With SAME_UPPER and SAME_LOWER it is the extent by the
    stride, rounded up. ValueError where the lists are not of one number an axis, or a window has no place.
    """
    same = auto_pad is not None and auto_pad.startswith("SAME")
    around = None if auto_pad not in (None, "NOTSET") else pads
    found = []
    for axis_window in _axis_windows(extents, kernel, strides, dilations, around):
        up = ceil_mode and auto_pad in (None, "NOTSET")
        if same:
            count = -(-axis_window.extent // axis_window.stride)
        elif axis_window.room < 0:
            raise ValueError("a window that has no place")
        else:
            count = (
                -(-axis_window.room // axis_window.stride) if up else axis_window.room // axis_window.stride
            ) + 1
            if up:
                # That many begin before the padding at the end; the first one always counts.
                count = max(min(count, -(-(axis_window.extent + axis_window.begin) // axis_window.stride)), 1)
        found.append(count)
    return found


def window_covers(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    pads: Numbers,
    auto_pad: str | None,
) -> bool:
    """Whether the padded extents hold the dilated kernel at least once along every axis.

    Left out: strides and dilations of 1, no pads. With SAME_UPPER and SAME_LOWER the padding is made to fit.
    ValueError where the lists are not of one number an axis, or a number breaks another rule.
    """
    rank = len(extents)
    _, spread, around = _of_each_axis(rank, kernel, strides, dilations, pads)
    if auto_pad is not None and auto_pad.startswith("SAME"):
        return all(extent > 0 for extent in extents)
    return all(
        extent + around[axis] + around[axis + rank] >= (kernel[axis] - 1) * spread[axis] + 1
        for axis, extent in enumerate(extents)
    )


def windows_begin_inside(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    pads: Numbers,
    auto_pad: str | None,
    ceil_mode: int | None,
) -> bool:
    """Whether the last window of each axis, where their number is rounded up, begins before the extent's end.

    Left out: strides and dilations of 1, no pads. ValueError where the lists are not of one number an axis.
    """
    if not ceil_mode or auto_pad not in (None, "NOTSET"):
        return True
    return all(
        -(-axis_window.room // axis_window.stride) * axis_window.stride
        < axis_window.extent + axis_window.begin
        for axis_window in _axis_windows(extents, kernel, strides, dilations, pads)
    )


def windows_hold_elements(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Numbers,
    dilations: Numbers,
    pads: Numbers,
    auto_pad: str | None,
    ceil_mode: int | None,
) -> bool:
    """Whether each window holds an element; with ceil_mode those that begin behind the extents are none.

    Left out: strides and dilations of 1, no pads. ValueError where the lists are not of one number an axis.
    """
    for axis_window in _axis_windows(extents, kernel, strides, dilations, pads):
        begin, last = axis_window.begin, axis_window.room // axis_window.stride * axis_window.stride
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            last = (axis_window.extent - 1) // axis_window.stride * axis_window.stride
            total = max(last + axis_window.reach - axis_window.extent, 0)
            begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        if begin >= axis_window.reach or (last >= axis_window.extent + begin and not ceil_mode):
            return False
        if begin > 0 and not _hold(axis_window, begin):
            return False
    return True


def _hold(axis: _AxisWindow, begin: int) -> bool:
    """Whether the windows that begin before the first element, the first of them by so much, have one."""
    if -(-begin // axis.dilation) * axis.dilation >= axis.reach:
        return False  # the first window ends before it
    # The first place of each that is no padding; they come again after as many windows as a dilation long.
    starts = range(-begin, 0, axis.stride)[: axis.dilation // gcd(axis.stride, axis.dilation)]
    return axis.extent >= axis.dilation or all(start % axis.dilation < axis.extent for start in starts)
