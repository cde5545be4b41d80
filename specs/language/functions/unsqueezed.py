"""A shape with new axes of one element."""

from __future__ import annotations

from collections.abc import Sequence


def unsqueezed(shape: Sequence[int], axes: Sequence[int]) -> list[int]:
    """The shape with 1 put in at these axes of the result.

    ValueError where an axis is not there, or is there twice.
    """
    rank = len(shape) + len(axes)
    if any(not -rank <= axis < rank for axis in axes):
        raise ValueError("an axis that is not there")
    added = {axis % rank for axis in axes}
    if len(added) < len(axes):
        raise ValueError("an axis that is there twice")
    rest = iter(shape)
    return [1 if at in added else next(rest) for at in range(rank)]
