"""Data that is cast: ties and ends of the type that it becomes, numbers of its range, texts of numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from opcert.vocabulary.element_types import ElementType, FloatLayout
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import Number, encode, largest, numbers, smallest_subnormal
from reference.numbers.powers_of_two import holds_powers_alone

_WHOLE = ("0", "1", "-3", "12", "100", "-128", "127", "7")
_DECIMAL = (
    "3.14",
    "1000",
    "1e-5",
    "1E8",
    "-0.5",
    "INF",
    "-inf",
    "NaN",
    "+INF",
    "0.1",
    "-2.5e3",
    "0",
    "1.5",
    "16777217",
)
_FRACTIONS = (
    Fraction(1, 2),
    Fraction(-1, 2),
    Fraction(3, 2),
    Fraction(5, 2),
    Fraction(-7, 4),
    Fraction(1, 4),
)
_PLAIN = (
    Fraction(1, 2),
    Fraction(-5, 4),
    Fraction(314, 100),
    Fraction(1000),
    Fraction(-12345, 8),
    Fraction(7),
)


def data_for_cast(tensor: Tensor, data: str, target: ElementType) -> Tensor:
    """The tensor with elements of which the documents say what they become.

    Floats lie within the range of integers, have few digits where they become texts, and are ties or ends of
    narrower floats where the class of data is `ties` or `large_offset`; texts write numbers.
    """
    own, count = tensor.element_type, tensor.array.size
    if own.kind == "string" and target.kind != "string":
        words = _words(target)
        texts = np.empty(count, dtype=np.object_)
        texts[:] = [words[at % len(words)].encode() for at in range(count)]
        return Tensor(own, texts.reshape(tensor.shape))
    if not own.is_float:
        return tensor
    given: list[Number] = numbers(own, tensor.array)
    wanted: list[Number]
    if target.is_integer:
        low, high = target.integer_range
        wanted = [_inside(each, low, high, at) for at, each in enumerate(given)]
    elif target.kind == "string":
        wanted = [_readable(each, at) for at, each in enumerate(given)]
    elif target.layout is not None and target.bits < own.bits and data in ("ties", "large_offset"):
        wanted = [(_tie if data == "ties" else _end)(target.layout, at) for at in range(count)]
    elif target.is_float and target.layout is None:
        wanted = [_positive(each, at, data) for at, each in enumerate(given)]
    else:
        return tensor
    if own.layout is None:
        wanted = [_size(each) or Fraction(1) for each in wanted]
    return Tensor(own, encode(own, wanted).reshape(tensor.shape))


def told_numbers(target: ElementType) -> list[float]:
    """Numbers of which a table or a rule says what each becomes in a narrow type; float32 has them all.

    Special values, the least and the greatest numbers with those around them and between them and their
    neighbours, and numbers far beyond; of integers those of the range alone, since the others are undefined.
    """
    if target.is_integer:
        low, high = target.integer_range
        inside = [low, high, 0, low + 0.5, high - 0.5, 0.5, 1, high - 1, low + 1]
        return [float(number) for number in inside if low <= number <= high]
    specials = [0.0, -0.0, math.inf, -math.inf, math.nan]
    if holds_powers_alone(target):
        beside = [1.0, 1.25, 1.5, 1.75, 3.0]
        scales = [math.ldexp(1.0, each) for each in (127, -126, -127)]
        ends = [scale * part for scale in scales for part in (1, 0.75, 1.5)]
        return [0.0, math.inf, math.nan, *beside, *ends]
    assert target.layout is not None
    most, least = float(largest(target.layout)), float(smallest_subnormal(target.layout))
    step = math.ldexp(1.0, target.layout.greatest_exponent - target.layout.precision + 1)
    ends = [most, most - step, most + step / 4, most + step / 2, most + step * 3 / 4, most + step, 4 * most]
    small = [least, least / 2, least * 0.75, least * 1.5, least / 4]
    return [*specials, *(sign * end for end in (*ends, *small) for sign in (1, -1))]


def told_texts(target: ElementType) -> tuple[str, ...]:
    """Texts of numbers of which a table says what each becomes in a narrow type of floats."""
    if holds_powers_alone(target):
        return ("INF", "NaN", "1", "1e38", "3", "0.3", "1e-5")
    return ("INF", "-INF", "NaN", "0", "1e38", "-1e38", "0.3", "-1.5", "1e-5")


def _words(target: ElementType) -> tuple[str, ...]:
    if not target.is_integer:
        positive = tuple(each for each in _DECIMAL if not each.startswith("-"))
        return positive if target.layout is None else _DECIMAL
    low, high = target.integer_range
    return tuple(each for each in _WHOLE if low <= int(each) <= high)


def _inside(value: Number, low: int, high: int, at: int) -> Number:
    """The number where its neighbours are integers of the range; else one of that kind with a fraction."""
    if math.isfinite(value) and low < value < high:
        return value
    near = _FRACTIONS[at % len(_FRACTIONS)]
    return near if low < near < high else Fraction(0)


def _readable(value: Number, at: int) -> Number:
    if math.isfinite(value) and (value == 0 or Fraction(1, 1000) <= _size(value) < 100000):
        return value
    return _PLAIN[at % len(_PLAIN)]


def _positive(value: Number, at: int, data: str) -> Number:
    """A number of either neighbour of a power of two, or beside the ends of float8e8m0."""
    if data == "large_offset":
        ends = (Fraction(2) ** 127, Fraction(3, 2) * Fraction(2) ** 126, Fraction(2) ** -126, Fraction(0))
        return ends[at % len(ends)]
    if data == "ties":
        return Fraction((4, 5, 6, 7, 9, 11)[at % 6], 4) * Fraction(2) ** (at % 9 - 4)
    return _size(value)


def _tie(layout: FloatLayout, at: int) -> Fraction:
    """Half-way between two numbers of the layout: one bit more than it holds, or half its smallest number."""
    if at % 7 == 6:
        return smallest_subnormal(layout) * (2 * (at % 5) + 1) / 2
    sign = -1 if at % 3 == 1 else 1
    odd = (1 << layout.precision) + 2 * (at % (1 << (layout.precision - 1))) + 1
    return sign * Fraction(odd, 1 << layout.precision) * Fraction(2) ** (at % 5 - 2)


def _end(layout: FloatLayout, at: int) -> Fraction:
    """The greatest number, or beyond it by quarters of the step below it."""
    most = largest(layout)
    step = Fraction(2) ** (layout.greatest_exponent - layout.precision + 1)
    return (-1 if at % 2 else 1) * (most + step * (at // 2 % 6) / 4)


def _size(value: Number) -> Number:
    return -value if value < 0 else value
