"""The shape that two shapes broadcast each other to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest


def broadcast_shape(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """The extents, counted from the end, of which each is that of both, or of the one that is not 1.

    ValueError where they are neither.
    """
    found = []
    for left, right in zip_longest(reversed(one), reversed(other), fillvalue=1):
        if left != right and 1 not in (left, right):
            raise ValueError(f"{left} and {right} do not broadcast")
        found.append(right if left == 1 else left)
    return found[::-1]
