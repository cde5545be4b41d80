"""Division of extents."""

from __future__ import annotations


def divided(left: int, right: int) -> int:
    """A quotient that leaves no remainder; ValueError where there is none."""
    if right == 0 or left % right:
        raise ValueError(f"{left} / {right} is not whole")
    return left // right
