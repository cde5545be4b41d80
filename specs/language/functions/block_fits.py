"""Whether blocks along an axis are as many as there are scales."""

from __future__ import annotations

from collections.abc import Sequence


def block_fits(shape: Sequence[int], scales: Sequence[int], axis: int, block_size: int) -> bool:
    """Whether the scales are as many as blocks of that size, of which the last may be shorter."""
    return block_size > 0 and -(-shape[axis] // block_size) == scales[axis]
