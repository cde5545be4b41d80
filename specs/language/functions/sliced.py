"""The shape of a slice."""

from __future__ import annotations

from collections.abc import Sequence


def sliced(
    shape: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> list[int]:
    """What is left of a shape between starts and ends, clamped to the extents.

    Backwards a start before the first element is the first one, where Python finds nothing. Left out: the
    first axes, steps of 1. ValueError where the lists are not of one length, an axis is not there, or a
    step is 0. Source: Slice, Summary.
    """
    rank, found = len(shape), list(shape)
    along = list(axes) if axes is not None else list(range(len(starts)))
    strides = list(steps) if steps is not None else [1] * len(starts)
    if not len(starts) == len(ends) == len(along) == len(strides):
        raise ValueError("not a start, an end and a step for each axis")
    if any(not -rank <= axis < rank for axis in along):
        raise ValueError("an axis that is not there")
    for start, end, axis, step in zip(starts, ends, along, strides, strict=True):
        extent = shape[axis]
        clamped = max(start, -extent) if step < 0 else start
        found[axis] = len(range(*slice(clamped, end, step).indices(extent)))
    return found
