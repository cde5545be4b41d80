"""Whether rows of indices lie inside the axes that they are about."""

from __future__ import annotations

from collections.abc import Sequence


def rows_inside(values: Sequence[int], length: int, extents: Sequence[int]) -> bool:
    """Whether each row of `length` indices lies inside the first extents; negative ones count from the end.

    ValueError where rows have no elements, or more than there are extents.
    """
    if not 1 <= length <= len(extents):
        raise ValueError("rows of another length")
    return all(
        -extents[place % length] <= value < extents[place % length] for place, value in enumerate(values)
    )
