"""Whether rows of indices are about different places."""

from __future__ import annotations

from collections.abc import Sequence


def rows_differ(values: Sequence[int], length: int, extents: Sequence[int]) -> bool:
    """Whether no two rows of `length` indices name the same place; negative ones count from the end.

    ValueError where rows have no elements, or more than there are extents.
    """
    if not 1 <= length <= len(extents):
        raise ValueError("rows of another length")
    plain = [value % max(extents[place % length], 1) for place, value in enumerate(values)]
    rows = [tuple(plain[start : start + length]) for start in range(0, len(plain), length)]
    return len(set(rows)) == len(rows)
