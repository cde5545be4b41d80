"""Whether two shapes broadcast each other."""

from __future__ import annotations

from collections.abc import Sequence


def broadcasts(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether each pair of extents, counted from the end, is equal or has a 1; ValueError below 0."""
    if any(each < 0 for each in (*one, *other)):
        raise ValueError("no extents")
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(left == right or 1 in (left, right) for left, right in pairs)
