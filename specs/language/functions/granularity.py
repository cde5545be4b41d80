"""How finely a tensor is quantised: what the shape of its scales says."""

from __future__ import annotations

from collections.abc import Sequence


def granularity(shape: Sequence[int], scales: Sequence[int], axis: int) -> str:
    """`tensor`, `axis` or `block` by the shape of the scales; `none` where they fit the tensor in no way."""
    if not scales:
        return "tensor"
    rank = len(shape)
    if rank < 2 or not -rank <= axis < rank:
        return "none"
    axis %= rank
    if len(scales) == 1:
        return "axis" if scales[0] == shape[axis] else "none"
    beside = [each for at, each in enumerate(shape) if at != axis]
    fits = len(scales) == rank and beside == [each for at, each in enumerate(scales) if at != axis]
    return "block" if fits and (0 < scales[axis] <= shape[axis] or scales[axis] == shape[axis]) else "none"
