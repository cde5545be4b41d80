"""What is added before and behind each axis that is padded."""

from __future__ import annotations

from collections.abc import Sequence


def padding(shape: Sequence[int], pads: Sequence[int], axes: Sequence[int]) -> list[tuple[int, int, int]]:
    """For each of the axes its extent, and what is added before and behind it (less than 0: taken away).

    ValueError where the pads are not two for each axis, or an axis is not there.
    """
    if len(pads) != 2 * len(axes) or any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise ValueError("not two pads for each axis")
    return [(shape[axis], pads[at], pads[at + len(axes)]) for at, axis in enumerate(axes)]
