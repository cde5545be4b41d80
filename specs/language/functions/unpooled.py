"""The shape of what a pool is undone to."""

from __future__ import annotations

from collections.abc import Sequence


def unpooled(
    shape: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    pads: Sequence[int] | None,
) -> list[int]:
    """The shape that a pool with this window makes `shape` of: two axes, and as many as the kernel has.

    Left out: strides of 1, no pads. ValueError where the lists are not of one number an axis.
    """
    rank = len(shape) - 2
    steps = list(strides) if strides is not None else [1] * rank
    around = list(pads) if pads is not None else [0] * 2 * rank
    if not len(kernel) == len(steps) == rank or len(around) != 2 * rank:
        raise ValueError("not a number for each axis")
    spatial = [
        (shape[2 + at] - 1) * steps[at] + kernel[at] - around[at] - around[at + rank] for at in range(rank)
    ]
    return [*shape[:2], *spatial]
