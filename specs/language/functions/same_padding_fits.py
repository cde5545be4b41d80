"""Whether padding is what makes windows of SAME_UPPER and SAME_LOWER fit."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.axis_windows import Numbers, axis_windows


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
        (each.extent - 1) // each.stride * each.stride + each.reach >= each.extent
        for each in axis_windows(extents, kernel, strides, dilations, pads)
    )
