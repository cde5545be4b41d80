"""Whether indices along an axis differ from each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def distinct_along(shape: Sequence[int], values: Sequence[int], axis: int, extent: int) -> bool:
    """Whether no line of indices along `axis` has one element of an axis of `extent` twice.

    Values are in row-major order; a negative index counts from the end. ValueError without axes.
    """
    if not shape:
        raise ValueError("no axes")
    axis %= len(shape)
    inner = prod(shape[axis + 1 :])
    length = shape[axis]
    for start in range(prod(shape[:axis])):
        for offset in range(inner):
            base = start * length * inner + offset
            line = [values[base + step * inner] % max(extent, 1) for step in range(length)]
            if len(set(line)) < length:
                return False
    return True
