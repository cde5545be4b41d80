"""How many places a window has along each axis."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.axis_windows import Numbers, axis_windows


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
    for each in axis_windows(extents, kernel, strides, dilations, around):
        up = ceil_mode and auto_pad in (None, "NOTSET")
        if same:
            count = -(-each.extent // each.stride)
        elif each.room < 0:
            raise ValueError("a window that has no place")
        else:
            count = (-(-each.room // each.stride) if up else each.room // each.stride) + 1
            if up:
                # That many begin before the padding at the end; the first one always counts.
                count = max(min(count, -(-(each.extent + each.begin) // each.stride)), 1)
        found.append(count)
    return found
