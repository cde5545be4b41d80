"""Whether a window has a place along every axis."""

from __future__ import annotations

from collections.abc import Sequence


def window_covers(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str | None,
) -> bool:
    """Whether the padded extents hold the dilated kernel at least once along every axis.

    Left out: strides and dilations of 1, no pads. With SAME_UPPER and SAME_LOWER the padding is made to fit.
    ValueError where the lists are not of one number an axis, or a number breaks another rule.
    """
    rank = len(extents)
    spread = list(dilations) if dilations is not None else [1] * rank
    around = list(pads) if pads is not None else [0] * 2 * rank
    steps = list(strides) if strides is not None else [1] * rank
    if not len(kernel) == len(spread) == len(steps) == rank or len(around) != 2 * rank:
        raise ValueError("not a number for each axis")
    if auto_pad is not None and auto_pad.startswith("SAME"):
        return all(extent > 0 for extent in extents)
    return all(
        extent + around[axis] + around[axis + rank] >= (kernel[axis] - 1) * spread[axis] + 1
        for axis, extent in enumerate(extents)
    )
