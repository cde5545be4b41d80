"""Draws of wide ranges, put together from narrow ones, so that a seed alone fixes what is drawn.

Hypothesis mixes into wide draws constants out of the source of whatever modules are loaded by then, this
project's among them; narrow ones, of whole numbers below a hundred, it leaves alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

_Item = TypeVar("_Item")

_DIGIT = 4
_NARROW = 99
"""The greatest magnitude that Hypothesis has no constants of."""
_FRACTION = 16
_CHARACTERS = 0xD800
"""Characters below the surrogates, which no text has alone."""


def bits(count: int) -> st.SearchStrategy[int]:
    """A whole number of so many bits, all as likely."""
    digits = st.tuples(*[st.integers(0, (1 << _DIGIT) - 1)] * math.ceil(count / _DIGIT))
    return digits.map(lambda each: _number_of(each) & ((1 << count) - 1))


def _number_of(digits: Sequence[int]) -> int:
    return sum(digit << (_DIGIT * place) for place, digit in enumerate(digits))


def whole_numbers(low: int, high: int) -> st.SearchStrategy[int]:
    """A whole number between two, both included; the lowest ones are twice as likely in some ranges."""
    if low >= -_NARROW and high <= _NARROW:
        return st.integers(low, high)
    count = high - low + 1
    return bits((count - 1).bit_length()).map(lambda value: low + value % count)


def one_of_many(items: Sequence[_Item]) -> st.SearchStrategy[_Item]:
    """One of any number of items."""
    return whole_numbers(0, len(items) - 1).map(lambda place: items[place])


def seeds() -> st.SearchStrategy[int]:
    """A seed for draws that are not Hypothesis's."""
    return bits(32)


def fractions(low: int, high: int) -> st.SearchStrategy[float]:
    """A sixteenth between two whole numbers, which every floating-point type of 16 bits and more has."""
    return whole_numbers(low * _FRACTION, high * _FRACTION).map(lambda value: value / _FRACTION)


def floats(width: int) -> st.SearchStrategy[float]:
    """Any number of a width of 16, 32 or 64 bits, NaN and infinities included; its corners more often."""
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[width]
    patterns = bits(width).map(lambda pattern: float(np.array(pattern, f"uint{width}").view(kind)))
    return st.one_of(st.sampled_from(_corners(kind)), patterns)


@cache
def _corners(kind: Any) -> tuple[float, ...]:
    known = np.finfo(kind)
    near = (1.0, known.max, known.tiny, known.smallest_subnormal, known.eps, kind(1 + known.eps), kind(0.1))
    return (math.nan, *(float(sign * each) for each in (0.0, math.inf, *near) for sign in (1, -1)))


def texts(most: int) -> st.SearchStrategy[str]:
    """A text of up to so many characters: of ASCII, or of any that two bytes hold."""
    ascii_ones = whole_numbers(0, 127)
    return st.lists(st.one_of(ascii_ones, whole_numbers(0, _CHARACTERS - 1)), max_size=most).map(
        lambda points: "".join(map(chr, points))
    )
