"""A window along each axis of an operator that slides one, of its attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Numbers = Sequence[int] | None


@dataclass(frozen=True)
class AxisWindow:
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


def axis_windows(
    extents: Sequence[int], kernel: Sequence[int], strides: Numbers, dilations: Numbers, pads: Numbers
) -> list[AxisWindow]:
    """One an axis. Left out: strides and dilations of 1, no pads.

    ValueError where the lists are not of one number an axis, or a number is not positive that should be.
    """
    rank = len(extents)
    steps = list(strides) if strides is not None else [1] * rank
    spread = list(dilations) if dilations is not None else [1] * rank
    around = list(pads) if pads is not None else [0] * 2 * rank
    if not len(kernel) == len(spread) == len(steps) == rank or len(around) != 2 * rank:
        raise ValueError("not a number for each axis")
    if any(each < 1 for each in (*kernel, *spread, *steps)):
        raise ValueError("not a positive number for each axis")
    return [
        AxisWindow(extent, kernel[at], steps[at], spread[at], around[at], around[at + rank])
        for at, extent in enumerate(extents)
    ]
