"""Single values at random: elements of every type, numbers in lists, values of attributes."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED
from generator.exploring.shrinking.known_space import CallValidity
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ElementType
from reference.numbers.numbers import encode
from specs.model.spec import AttributeSpec

ENDS = (2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**31), -(2**63))
"""Whole numbers at which narrower arithmetic overflows."""
_WORDS = ("", "other", "NEAREST", "\N{BULLET}")
_FACTORS = (0.5, 1.0, 2.0, 1.5, 0.25, 3.0, 1 / 3, 0.75, 0.6, 1.2, 2.5)
_LONGEST_LIST = 5
_LONGEST_TEXT = 4
_FRACTION = 16
_CHARACTERS = 0xD800
"""Characters below the surrogates, which no text has alone."""


def random_element(draw: Draw, kind: ElementType) -> NDArray[Any]:
    """One element, as an array of one in the type's storage."""
    if kind.kind == "bool":
        return np.array([draw.integer(0, 1) == 1])
    if kind.kind == "string":
        found = np.empty(1, dtype=np.object_)
        found[0] = random_text(draw).encode()
        return found
    if kind.kind == "complex":
        parts = [random_element(draw, kind.component) for _ in range(2)]
        return np.concatenate(parts).view(kind.storage)
    if kind.is_integer:
        low, high = kind.integer_range
        ranges = ((max(low, -3), min(high, 9)), (low, high), (low, low), (high, high))
        return np.array([draw.integer(*draw.choice(ranges))], dtype=kind.storage)
    if not _rounds(kind):
        return np.array([draw.integer(0, (1 << kind.bits) - 1)], dtype=kind.storage)
    near = draw.choice((True, False, False))
    return encode(kind, [float(draw.integer(-9, 9)) if near else random_float(draw, _width(kind))])


def random_amount(draw: Draw, kind: ElementType) -> NDArray[Any]:
    """One number of a list that says how much, as `random_element`: lengths, scales, pads, blocks."""
    if kind.is_integer:
        low, high = kind.integer_range
        ends = [each for each in ENDS if low <= each <= high] or [low, high]
        near = draw.integer(max(low, -3), min(high, 9))
        return np.array([draw.choice((near, draw.choice(ends)))], dtype=kind.storage)
    if kind.is_float and _rounds(kind):
        numbers = (draw.choice(_FACTORS), _fraction(draw, -1, 4), random_float(draw, 16))
        return encode(kind, [draw.choice(numbers)])
    return random_element(draw, kind)


def random_attribute(draw: Draw, space: CallValidity, known: AttributeSpec, now: Any) -> Attribute:
    """A value for an attribute; `now` is the one that it has."""
    assert known.kind is not None
    kind = known.kind.removesuffix("s")
    levels = next((each.levels for each in space.spec.factors if each.name == known.name), ())
    named = (*(known.allowed or ()), *(each for each in levels if each != OMITTED))
    listed = [value for value in named if _suits(value, kind)]
    if kind == known.kind:
        return Attribute(kind, _random_item(draw, kind, listed))
    items = list(now) if isinstance(now, list | tuple) else []
    how = draw.choice(("new", "turned", "one new") if items else ("new", "turned"))
    if how == "new":
        items = [_random_item(draw, kind, listed) for _ in range(draw.integer(0, _LONGEST_LIST))]
    elif how == "turned":
        items = draw.shuffled(items)
    else:
        items[draw.integer(0, len(items) - 1)] = _random_item(draw, kind, listed)
    return Attribute(known.kind, tuple(items))


def _random_item(draw: Draw, kind: str, listed: list[Any]) -> Any:
    if kind == "string":
        return draw.choice([*listed, *_WORDS])
    near: list[Any] = [draw.choice(listed)] if listed else []
    if kind == "int":
        return draw.choice([*near, draw.integer(-3, 9), draw.choice(ENDS)])
    single = [_single(each) for each in near]
    return draw.choice([*single, _fraction(draw, -4, 4), random_float(draw, 32)])


def _suits(value: Any, kind: str) -> bool:
    wanted = {"int": int, "float": int | float, "string": str}[kind]
    return isinstance(value, wanted) and not isinstance(value, bool)


def _single(value: float) -> float:
    """The nearest float32: attributes have no more."""
    return value if math.isnan(value) else float(np.float32(value))


def _fraction(draw: Draw, low: int, high: int) -> float:
    """A sixteenth between two whole numbers, which every floating-point type of 16 bits and more has."""
    return draw.integer(low * _FRACTION, high * _FRACTION) / _FRACTION


def random_float(draw: Draw, width: int) -> float:
    """Any number of a width of 16, 32 or 64 bits, NaN and infinities included; its corners more often."""
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[width]
    if draw.integer(0, 1):
        return draw.choice(_corners(kind))
    return float(np.array(draw.integer(0, (1 << width) - 1), f"uint{width}").view(kind))


@cache
def _corners(kind: Any) -> tuple[float, ...]:
    known = np.finfo(kind)
    near = (1.0, known.max, known.tiny, known.smallest_subnormal, known.eps, kind(1 + known.eps), kind(0.1))
    return (math.nan, *(float(sign * size) for size in (0.0, math.inf, *near) for sign in (1, -1)))


def _rounds(kind: ElementType) -> bool:
    """Whether every float has a nearest element: not where NaN, or zero and signs, have none."""
    return kind.layout is not None and kind.layout.nan != "none"


def _width(kind: ElementType) -> int:
    """The width whose floats reach every corner of the type."""
    return 64 if kind.bits == 64 else 16 if kind.name == "float16" else 32


def random_text(draw: Draw) -> str:
    """A text of a few characters: of ASCII, or of any that two bytes hold."""
    most = [draw.choice((127, _CHARACTERS - 1)) for _ in range(draw.integer(0, _LONGEST_TEXT))]
    return "".join(chr(draw.integer(0, each)) for each in most)
