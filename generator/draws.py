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

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included (the bias is below 2**-64)."""
        return self.numbers(low, high, 1)[0]

    def numbers(self, low: int, high: int, count: int) -> list[int]:
        """So many numbers from `low` to `high`, both included, as `integer` gives them one by one."""
        span = high - low + 1
        if span < 1 and count:
            raise ValueError(f"nothing between {low} and {high}")
        first, key = self._count, self._key
        self._count += count
        return [low + _number(key, turn, span) for turn in range(first, self._count)]

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
        for last in range(len(order) - 1, 0, -1):
            other = _number(self._key, self._count, last + 1)
            self._count += 1
            order[last], order[other] = order[other], order[last]
        return order


def _number(key: bytes, counter: int, span: int) -> int:
    """The number below `span` that stands at a place of a key's stream."""
    word = hashlib.blake2b(counter.to_bytes(8, "little"), key=key, digest_size=64).digest()
    return (int.from_bytes(word, "little") & ((1 << (span.bit_length() + 64)) - 1)) % span
