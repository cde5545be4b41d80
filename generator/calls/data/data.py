"""Data for tensors: classes of values, each of which exposes some kind of mistake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from generator.calls.data import floats
from generator.calls.data.draws import Draw
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor

Fill = Callable[[ElementType, int, Draw], list[int]]
"""Storage values (for floating-point types: their bits) for a count of elements."""

INTEGER_CLASSES = ("distinct", "random", "constant", "large_offset", "ties", "extremes")
FLOAT_CLASSES = (
    "distinct", "random", "constant", "large_offset", "ties",
    "signed_zero", "subnormal", "huge", "nonfinite",
)  # fmt: skip
POWER_CLASSES = ("distinct", "random", "constant", "huge", "nonfinite")
PLAIN_CLASSES = ("distinct", "random", "constant")
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-éß漢😀"


@cache
def data_classes(element_type: ElementType | str) -> tuple[str, ...]:
    """The data classes that an element type has."""
    kind = ELEMENT_TYPES[element_type] if isinstance(element_type, str) else element_type
    if kind.kind == "complex":
        return FLOAT_CLASSES
    if kind.is_float:
        if kind.layout is None:
            return POWER_CLASSES
        return tuple(
            float_class
            for float_class in FLOAT_CLASSES
            if float_class != "nonfinite" or floats.not_numbers(kind)
        )
    return INTEGER_CLASSES if kind.is_integer else PLAIN_CLASSES


def fill(element_type: ElementType | str, shape: Sequence[int], data_class: str, draw: Draw) -> Tensor:
    """A tensor of that class of values; raises ValueError where the element type has no such class.

    `distinct`: all elements different where the type has enough values, in no order, so that any permutation
    shows; `random`: anywhere in the range of an integer type, between -8 and 8 in a floating-point one;
    `constant`: one value; `large_offset`: a large value with small differences; `ties`: neighbours whose
    means lie half-way between two values of the type; `signed_zero`, `subnormal`: zeros of both
    signs, or subnormal numbers, among ordinary values; `huge`: near the greatest finite value;
    `nonfinite`: NaN and infinities (where the type has them) among ordinary values; `extremes`: the least and
    greatest integers among others.
    """
    kind = ELEMENT_TYPES[element_type] if isinstance(element_type, str) else element_type
    extents = tuple(int(extent) for extent in shape)
    if data_class not in data_classes(kind):
        raise ValueError(f"{kind} has no data class {data_class}")
    count = prod(extents)
    return Tensor(kind, _elements(kind, count, data_class, draw).reshape(extents))


def zeros(element_type: ElementType, shape: Sequence[int]) -> Tensor:
    """A tensor of zeros, or of empty strings."""
    nothing: object = b"" if element_type.kind == "string" else 0
    return Tensor(element_type, np.full(tuple(shape), nothing, element_type.storage))


def _elements(kind: ElementType, count: int, data_class: str, draw: Draw) -> NDArray[np.generic]:
    if kind.kind == "string":
        return _strings(count, data_class, draw)
    if kind.kind == "bool":
        return np.array(_bits(count, data_class, draw), dtype=np.bool_)
    if kind.kind == "complex":
        parts = [_elements(kind.component, count, data_class, draw.child(part)) for part in ("re", "im")]
        both: NDArray[np.generic] = np.stack(parts, axis=-1).copy().view(kind.storage).reshape(count)
        return both
    if kind.is_float:
        draw_codes = getattr(floats, data_class) if kind.layout is not None else _POWERS[data_class]
        codes = np.array(draw_codes(kind, count, draw), dtype=np.dtype(f"u{max(kind.bits, 8) // 8}"))
        stored: NDArray[np.generic] = codes.view(kind.storage)
        return stored
    values = _INTEGERS[data_class](kind, count, draw)
    return np.array(values, dtype=kind.storage)


def _distinct(kind: ElementType, count: int, draw: Draw) -> list[int]:
    low, high = kind.integer_range
    start = max(low, -(count // 3))
    return draw.shuffled([start + position % (high - start + 1) for position in range(count)])


def _random(kind: ElementType, count: int, draw: Draw) -> list[int]:
    low, high = kind.integer_range
    return draw.numbers(low, high, count)


def _constant(kind: ElementType, count: int, draw: Draw) -> list[int]:
    return [draw.integer(1, min(100, kind.integer_range[1]))] * count


def _large_offset(kind: ElementType, count: int, draw: Draw) -> list[int]:
    high = kind.integer_range[1]
    top = high - high // 8
    return draw.shuffled([top - position % max(top // 2, 1) for position in range(count)])


def _ties(kind: ElementType, count: int, draw: Draw) -> list[int]:
    high = min(kind.integer_range[1], 100)
    low = max(kind.integer_range[0], -100)
    # Neighbours in the last axis differ by an odd number: their means end in one half.
    halves = draw.numbers((low + 1) // 2, (high - 1) // 2, count)
    return [2 * half + position % 2 for position, half in enumerate(halves)]


def _extremes(kind: ElementType, count: int, draw: Draw) -> list[int]:
    low, high = kind.integer_range
    ends = [low, high, low + 1, high - 1, 0, 1]
    return [*ends[:count], *draw.choices(ends, max(count - len(ends), 0))]


_INTEGERS: dict[str, Fill] = {
    "distinct": _distinct,
    "random": _random,
    "constant": _constant,
    "large_offset": _large_offset,
    "ties": _ties,
    "extremes": _extremes,
}


def _bits(count: int, data_class: str, draw: Draw) -> list[int]:
    if data_class == "constant":
        return [1] * count
    drawn = draw.numbers(0, 1, count)
    if count > 1 and len(set(drawn)) == 1:
        drawn[draw.integer(0, count - 1)] ^= 1
    return drawn


def _strings(count: int, data_class: str, draw: Draw) -> NDArray[np.object_]:
    if data_class == "constant":
        words = ["same"] * count
    elif data_class == "distinct":
        words = draw.shuffled(
            [f"{_ALPHABET[position % len(_ALPHABET)]}{position}" for position in range(count)]
        )
    else:
        words = ["".join(draw.choice(_ALPHABET) for _ in range(draw.integer(0, 6))) for _ in range(count)]
    array = np.empty(count, dtype=np.object_)
    array[:] = [word.encode() for word in words]
    return array


_EXPONENT_OF_1 = 127
_NAN_OF_POWERS = 255
_SPREAD_OF_POWERS = 3  # random numbers lie between 1/8 and 8


def _distinct_power(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    """Powers around 1, as near to it as there is room."""
    start = max(_EXPONENT_OF_1 - count // 2, 0)
    return draw.shuffled([(start + position) % _NAN_OF_POWERS for position in range(count)])


def _random_power(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    return draw.numbers(_EXPONENT_OF_1 - _SPREAD_OF_POWERS, _EXPONENT_OF_1 + _SPREAD_OF_POWERS, count)


def _constant_power(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    return [draw.integer(_EXPONENT_OF_1 - _SPREAD_OF_POWERS, _EXPONENT_OF_1 + _SPREAD_OF_POWERS)] * count


def _huge_power(_kind: ElementType, count: int, draw: Draw) -> list[int]:
    return draw.numbers(_NAN_OF_POWERS - 2, _NAN_OF_POWERS - 1, count)


def _nonfinite_power(kind: ElementType, count: int, draw: Draw) -> list[int]:
    """A NaN among distinct numbers."""
    found = _distinct_power(kind, count, draw.child("ordinary"))
    if found:
        found[draw.integer(0, count - 1)] = _NAN_OF_POWERS
    return found


_POWERS: dict[str, Fill] = {
    "distinct": _distinct_power,
    "random": _random_power,
    "constant": _constant_power,
    "huge": _huge_power,
    "nonfinite": _nonfinite_power,
}
"""Of types that hold powers of two alone: their bits."""
