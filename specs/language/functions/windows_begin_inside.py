"""Whether each window of a pool begins before the padding at the end."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.axis_windows import Numbers, axis_windows


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
        -(-each.room // each.stride) * each.stride < each.extent + each.begin
        for each in axis_windows(extents, kernel, strides, dilations, pads)
    )
