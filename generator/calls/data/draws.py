"""Randomness: a counter-based generator keyed by what it is for, the same on every machine and for ever."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
_PLACE = struct.Struct("<Q")


class Draw:
    """A stream of numbers: BLAKE2b of a key and a counter. Children by label are independent streams."""

    def __init__(self, key: str | bytes) -> None:
        self._source = key
        self._count = 0

    def child(self, label: str) -> Draw:
        """A stream of its own, that depends on this one's key and the label, not on what was drawn before."""
        return Draw(self._key + label.encode())

    @property
    def is_used(self) -> bool:
        """Whether anything was drawn from it or from one of its children."""
        return "_key" in self.__dict__

    @cached_property
    def _key(self) -> bytes:
        """Of many streams nothing is ever drawn: their keys are not needed."""
        source = self._source
        return hashlib.blake2b(
            source.encode() if isinstance(source, str) else source, digest_size=32
        ).digest()

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included (the bias is below 2**-64)."""
        span = high - low + 1
        if span < 1:
            raise ValueError(f"nothing between {low} and {high}")
        # Of a single word this is quicker than a copy of a state; it is the word that `_words` has there.
        found = hashlib.blake2b(_PLACE.pack(self._count), key=self._key).digest()
        self._count += 1
        return low + (int.from_bytes(found, "little") & _mask(span)) % span

    def numbers(self, low: int, high: int, count: int) -> list[int]:
        """So many numbers from `low` to `high`, both included, as `integer` gives them one by one."""
        span = high - low + 1
        if span < 1 and count:
            raise ValueError(f"nothing between {low} and {high}")
        mask = _mask(span)
        return [low + (word & mask) % span for word in self._words(count)]

    def rounds(self, count: int, *bounds: tuple[int, int]) -> Iterator[tuple[int, ...]]:
        """So many rounds, in each of which a number is drawn from every pair of bounds, one by one."""
        ranges = [(low, high - low + 1) for low, high in bounds]
        if count and any(span < 1 for _, span in ranges):
            raise ValueError(f"nothing between two of the bounds {bounds}")
        if not bounds:
            yield from [()] * count
            return
        words = self._words(count * len(bounds))
        columns = []
        for place, (low, span) in enumerate(ranges):
            mask = _mask(span)
            columns.append([low + (word & mask) % span for word in words[place :: len(bounds)]])
        yield from zip(*columns, strict=True)

    def integers(self, low: int, high: int, shape: int | Sequence[int]) -> NDArray[np.int64]:
        """An int64 array of that shape of numbers from `low` to `high`, both included."""
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        drawn = self.numbers(low, high, math.prod(extents))
        return np.array(drawn, dtype=np.int64).reshape(extents)

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def choices(self, items: Sequence[Item], count: int) -> list[Item]:
        """So many of the items, each of them any."""
        return [items[number] for number in self.numbers(0, len(items) - 1, count)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All the items in random order."""
        order = list(items)
        most = len(order) - 1
        for last, word in zip(range(most, 0, -1), self._words(most), strict=True):
            span = last + 1
            other = (word & (1 << (span.bit_length() + 64)) - 1) % span  # `_mask`, without a call of it
            order[last], order[other] = order[other], order[last]
        return order

    def _words(self, count: int) -> Sequence[int]:
        """The next words of the stream, of 512 bits each."""
        first = self._count
        self._count += max(count, 0)
        return _words_of(self._key, first, self._count)


@lru_cache(maxsize=16)
def _words_of(key: bytes, first: int, end: int) -> Sequence[int]:
    """The words of a stream from one place to another; searches draw the same ones again and again."""
    copy, packed, integer = hashlib.blake2b(key=key).copy, _PLACE.pack, int.from_bytes
    words = []
    for place in range(first, end):
        state = copy()
        state.update(packed(place))
        words.append(integer(state.digest(), "little"))
    return words


def _mask(span: int) -> int:
    """The bits of a word that a number below `span` is made of."""
    return (1 << (span.bit_length() + 64)) - 1
