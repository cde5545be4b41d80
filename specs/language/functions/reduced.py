"""The shape that a reduction leaves."""

from __future__ import annotations

from collections.abc import Sequence


def reduced(
    shape: Sequence[int], axes: Sequence[int] | None, keepdims: int, nothing_where_empty: int = 0
) -> list[int]:
    """The shape without the axes, or with 1 in their places; without axes all are meant, or none.

    ValueError where an axis is not there.
    """
    rank, listed = len(shape), list(axes) if axes is not None else []
    if any(not -rank <= axis < rank for axis in listed):
        raise ValueError("an axis that is not there")
    if not listed and not nothing_where_empty:
        listed = list(range(rank))
    gone = {axis % rank for axis in listed}
    return [1 if at in gone else each for at, each in enumerate(shape) if keepdims or at not in gone]
