"""Data of which every element shows: no product vanishes, no summand is below what is allowed.

Numbers of few significant bits have sums that are exact in any order, where nothing at all is allowed.
Numbers of all bits of a type, of one size, make sums round: each summand is larger than what that comes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from generator.calls.data import floats
from generator.calls.data.draws import Draw
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

_MOST_BITS_OF_INTEGERS = 10


def bits_that_add_exactly(kind: ElementType, terms: int) -> int:
    """So many bits of both factors have sums of so many products exact; one at least."""
    if kind.layout is None:
        return _MOST_BITS_OF_INTEGERS
    return max((kind.layout.precision - max(terms - 1, 1).bit_length()) // 2, 1)


def sharp(kind: ElementType, shape: Sequence[int], bits: int, draw: Draw, smaller: int = 0) -> Tensor:
    """Odd numbers of so many bits at most, of both signs; in a floating-point type between 1/4 and 2.

    They are halved `smaller` times. With the bits of the type itself they are of one size, so that they take
    up no more than these.
    """
    count = prod(shape)
    if kind.layout is None:
        return _integers(kind, shape, draw)
    full = bits >= kind.layout.precision
    low = 1 << (bits - 1) if full else 1 << max(bits - 3, 0)
    drawn = np.array(draw.numbers(low // 2, (1 << bits) // 2 - 1, count), dtype=np.int64) * 2 + 1
    signs = np.array(draw.numbers(0, 1, count), dtype=np.int64) * 2 - 1
    return Tensor(kind, _encoded(kind, drawn * signs, 1 - bits - smaller).reshape(tuple(shape)))


def near_one(kind: ElementType, shape: Sequence[int], draw: Draw) -> Tensor:
    """Positive numbers from 1/2 to 2: products of many stay in the range of the type."""
    if kind.layout is None:
        return _integers(kind, shape, draw)
    bits = min(kind.layout.precision, 8)
    drawn = np.array(draw.numbers(1 << (bits - 2), (1 << bits) - 1, prod(shape)), dtype=np.int64)
    return Tensor(kind, _encoded(kind, drawn, 1 - bits).reshape(tuple(shape)))


def _encoded(kind: ElementType, significands: NDArray[np.int64], exponent: int) -> NDArray[np.generic]:
    """Significands times a power of two, which the type holds."""
    codes = {each: floats.encode(kind, each, exponent) for each in set(significands.tolist())}
    found = np.array([codes[each] for each in significands.tolist()], dtype=f"u{kind.bits // 8}")
    return found.view(kind.storage)


def _integers(kind: ElementType, shape: Sequence[int], draw: Draw) -> Tensor:
    """Integers of the whole range where this has 8 bits, and of few bits where sums might leave it."""
    low, high = kind.integer_range
    most = high if kind.bits <= 8 else (1 << _MOST_BITS_OF_INTEGERS) - 1
    drawn = np.array(draw.numbers(max(low, -most - 1), most, prod(shape)), dtype=kind.storage)
    return Tensor(kind, drawn.reshape(tuple(shape)))


def spread_ends(given: Tensor, axis: int) -> Tensor:
    """The tensor with the greatest or least element of each lane where loops treat elements apart.

    Elements of a lane change places: with the last, the first, one in the middle, one behind whole vectors.
    """
    kind = given.element_type
    if kind.layout is None and not kind.is_integer:
        return given
    lanes = np.moveaxis(np.array(given.array), axis, -1)
    flat = lanes.reshape(-1, lanes.shape[-1])
    length = flat.shape[-1]
    places = (length - 1, 0, length // 2, length - max(length % 16, 1), min(32, length - 1))
    for at, lane in enumerate(flat):
        numbers = lane if kind.is_integer else decode_floats(kind, lane)
        order = np.argsort(numbers, kind="stable")
        greatest, place = int(order[-1 if at % 4 < 3 else 0]), places[at % len(places)]
        lane[greatest], lane[place] = lane[place], lane[greatest]
    turned = np.moveaxis(flat.reshape(lanes.shape), -1, axis)
    return Tensor(kind, np.ascontiguousarray(turned))


def signs_alone(kind: ElementType, shape: Sequence[int], draw: Draw) -> Tensor:
    """Ones of both signs, and few halves and twos: products of any number of them are exact."""
    if kind.layout is None:
        values = [1, -1, 1, -1, 2] if kind.integer_range[0] < 0 else [1, 1, 1, 2]
        chosen = np.array(draw.choices(values, prod(shape)), dtype=kind.storage)
        return Tensor(kind, chosen.reshape(tuple(shape)))
    halves = np.array(draw.choices([2, -2, 2, -2, 2, -2, 1, 4], prod(shape)), dtype=np.int64)
    return Tensor(kind, _encoded(kind, halves, -1).reshape(tuple(shape)))
