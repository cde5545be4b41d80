"""Randomness: a counter-based generator keyed by what it is for, the same on every machine and for ever."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")


class Draw:
    """A stream of numbers: BLAKE2b of a key and a counter. Children by label are independent streams."""

    def __init__(self, key: str | bytes) -> None:
        self._key = hashlib.blake2b(key.encode() if isinstance(key, str) else key, digest_size=32).digest()
        self._count = 0

    def child(self, label: str) -> Draw:
        """A stream of its own, that depends on this one's key and the label, not on what was drawn before."""
        return Draw(self._key + label.encode())

    def bits(self, width: int) -> int:
        """A number of `width` random bits, at most 448."""
        counter = self._count.to_bytes(8, "little")
        self._count += 1
        word = hashlib.blake2b(counter, key=self._key, digest_size=64).digest()
        return int.from_bytes(word, "little") & ((1 << width) - 1)

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included (the bias is below 2**-64)."""
        span = high - low + 1
        if span < 1:
            raise ValueError(f"nothing between {low} and {high}")
        return low + self.bits(span.bit_length() + 64) % span

    def numbers(self, low: int, high: int, count: int) -> list[int]:
        """So many numbers from `low` to `high`, both included, as `integer` gives them one by one."""
        span = high - low + 1
        if span < 1 and count:
            raise ValueError(f"nothing between {low} and {high}")
        mask, key, first = (1 << (span.bit_length() + 64)) - 1, self._key, self._count
        width = (span.bit_length() + 64 + 7) // 8
        self._count += max(count, 0)
        words = (
            hashlib.blake2b(turn.to_bytes(8, "little"), key=key, digest_size=64).digest()[:width]
            for turn in range(first, self._count)
        )
        return [low + (int.from_bytes(word, "little") & mask) % span for word in words]

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
        return [items[each] for each in self.numbers(0, len(items) - 1, count)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """All the items in random order."""
        order = list(items)
        key, begin = self._key, self._count + len(order) - 1
        for last in range(len(order) - 1, 0, -1):
            # The number that `integer(0, last)` gives, without its calls.
            counter = (begin - last).to_bytes(8, "little")
            word = hashlib.blake2b(counter, key=key, digest_size=64).digest()
            mask = (1 << ((last + 1).bit_length() + 64)) - 1
            other = (int.from_bytes(word, "little") & mask) % (last + 1)
            order[last], order[other] = order[other], order[last]
        self._count += max(len(order) - 1, 0)
        return order
