"""The lengths of what a transposed window makes."""

from __future__ import annotations

from collections.abc import Sequence


def spread_lengths(
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    added: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
) -> list[int]:
    """The length along each axis; with SAME that of the extent times the stride.

    Left out: strides and dilations of 1, nothing added, no pads. ValueError where the lists are not of one
    number an axis.
    """
    rank = len(extents)
    steps = list(strides) if strides is not None else [1] * rank
    spread = list(dilations) if dilations is not None else [1] * rank
    more = list(added) if added is not None else [0] * rank
    around = list(pads) if pads is not None else [0] * 2 * rank
    if not len(kernel) == len(steps) == len(spread) == len(more) == rank or len(around) != 2 * rank:
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
