"""A shape with other extents along some axes."""

from __future__ import annotations

from collections.abc import Sequence


def replaced(shape: Sequence[int], axes: Sequence[int], extents: Sequence[int]) -> list[int]:
    """The shape with these extents along these axes.

    ValueError where an axis is not there, or the extents are not one for each axis.
    """
    rank, found = len(shape), list(shape)
    if len(axes) != len(extents) or any(not -rank <= axis < rank for axis in axes):
        raise ValueError("not an extent for each axis that is there")
    for axis, extent in zip(axes, extents, strict=True):
        found[axis] = extent
    return found
