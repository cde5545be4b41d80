"""Whether a pool without padding has as many windows rounded up as rounded down."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.axis_windows import Numbers, axis_windows


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
    windows = axis_windows(extents, kernel, strides, dilations, pads)
    return all((each.extent - each.reach) % each.stride == 0 for each in windows)
