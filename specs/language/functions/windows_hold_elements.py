"""Whether each window of a pool has an element that is no padding."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from opcert.vocabulary.axis_windows import AxisWindow, Numbers, axis_windows


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
    for each in axis_windows(extents, kernel, strides, dilations, pads):
        begin, last = each.begin, each.room // each.stride * each.stride
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            last = (each.extent - 1) // each.stride * each.stride
            total = max(last + each.reach - each.extent, 0)
            begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        if begin >= each.reach or (last >= each.extent + begin and not ceil_mode):
            return False
        if begin > 0 and not _hold(each, begin):
            return False
    return True


def _hold(axis: AxisWindow, begin: int) -> bool:
    """Whether the windows that begin before the first element, the first of them by so much, have one."""
    if -(-begin // axis.dilation) * axis.dilation >= axis.reach:
        return False  # the first window ends before it
    # The first place of each that is no padding; they come again after as many windows as a dilation long.
    starts = range(-begin, 0, axis.stride)[: axis.dilation // gcd(axis.stride, axis.dilation)]
    return axis.extent >= axis.dilation or all(start % axis.dilation < axis.extent for start in starts)
