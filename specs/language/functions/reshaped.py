"""The shape that extents ask for, of which one may be inferred and others copied."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def reshaped(shape: Sequence[int], target: Sequence[int], zero_copies: bool) -> list[int]:
    """The target with -1 inferred from the number of elements, and 0 copied where `zero_copies`.

    ValueError where what is copied is not there, or what is inferred is not whole.
    """
    known = with_copies(shape, target, zero_copies)
    if -1 not in known:
        return known
    rest = prod(each for each in known if each != -1)
    if not rest or prod(shape) % rest:
        raise ValueError("no whole extent is left")
    return [prod(shape) // rest if each == -1 else each for each in known]


def with_copies(shape: Sequence[int], target: Sequence[int], zero_copies: bool) -> list[int]:
    """The target, where `zero_copies` with 0 as the extent of that axis; ValueError where it has none."""
    if zero_copies and any(each == 0 and at >= len(shape) for at, each in enumerate(target)):
        raise ValueError("a copy of an axis that is not there")
    return [shape[at] if each == 0 and zero_copies else each for at, each in enumerate(target)]
