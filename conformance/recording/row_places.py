"""Where rows lie in a record while it is written, and in which order they are to stand: 12 bytes a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from opcert.vocabulary.errors import InternalError

Order = tuple[int, int, int]
"""The place of a row in a record: its case, its form and its repetition by their positions."""

_FORM_BITS, _REPEAT_BITS = 8, 24
_TOGETHER = 4096


class RowPlaces:
    """Rows one behind the other in a file; the first begins at `begin`."""

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._keys = array("Q")
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, order: Order, length: int) -> None:
        """A row of so many bytes follows."""
        case, form, repeat = order
        if form >> _FORM_BITS or repeat >> _REPEAT_BITS:
            raise InternalError("a row has no place in a record", got=str(order))
        self._keys.append((case << _FORM_BITS | form) << _REPEAT_BITS | repeat)
        self._lengths.append(length)

    def sorted_spans(self) -> Iterator[tuple[int, int]]:
        """Where each row begins and how long it is, in the order in which they are to stand."""
        lengths = np.frombuffer(self._lengths, np.uint32)
        begins = np.frombuffer(array("Q", accumulate(self._lengths, initial=self._begin)), np.uint64)
        chosen = np.argsort(np.frombuffer(self._keys, np.uint64), kind="stable")
        for begin in range(0, len(chosen), _TOGETHER):
            part = chosen[begin : begin + _TOGETHER]
            yield from zip(begins[part].tolist(), lengths[part].tolist(), strict=True)

    def orders(self) -> set[Order]:
        """The place of every row."""
        return set(self.listed())

    def listed(self) -> list[Order]:
        """The place of each row, as they lie one behind the other."""
        return [
            (
                key >> (_FORM_BITS + _REPEAT_BITS),
                key >> _REPEAT_BITS & ((1 << _FORM_BITS) - 1),
                key & ((1 << _REPEAT_BITS) - 1),
            )
            for key in self._keys
        ]
