"""Data of float8e8m0, as bits: powers of two without a sign; each function is one data class."""

from __future__ import annotations

from generator.calls.data.draws import Draw
from opcert.vocabulary.element_types import ElementType

_ONE = 127
_NAN = 255
_SPREAD = 3  # random numbers lie between 1/8 and 8


def distinct(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    """Powers around 1, as near to it as there is room."""
    start = max(_ONE - count // 2, 0)
    return draw.shuffled([(start + position) % _NAN for position in range(count)])


def random(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    return draw.numbers(_ONE - _SPREAD, _ONE + _SPREAD, count)


def constant(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    return [draw.integer(_ONE - _SPREAD, _ONE + _SPREAD)] * count


def huge(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    return draw.numbers(_NAN - 2, _NAN - 1, count)


def nonfinite(kind: ElementType, count: int, draw: Draw) -> list[int]:
    """A NaN among distinct numbers."""
    found = distinct(kind, count, draw.child("ordinary"))
    if found:
        found[draw.integer(0, count - 1)] = _NAN
    return found
