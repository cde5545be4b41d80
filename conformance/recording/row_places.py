"""Where rows lie in a record while it is written, and in which order they are to stand: 32 bytes a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Order = tuple[int, int, int]
"""The place of a row in a record: its case, its form and its repetition by their positions."""


_TOGETHER = 4096


class RowPlaces:
    """Rows one behind the other in a file; the first begins at `begin`."""

    def __init__(self, begin: int) -> None:
        self._orders = array("Q")
        self._offsets = array("Q", [begin])

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, order: Order, length: int) -> None:
        """A row of so many bytes follows."""
        self._orders.extend(order)
        self._offsets.append(self._offsets[-1] + length)

    def sorted_spans(self) -> Iterator[tuple[int, int]]:
        """Where each row begins and how long it is, in the order in which they are to stand."""
        offsets = np.frombuffer(self._offsets, np.uint64)
        chosen = np.lexsort(self._rows().T[::-1])
        for begin in range(0, len(chosen), _TOGETHER):
            part = chosen[begin : begin + _TOGETHER]
            begins = offsets[part]
            yield from zip(begins.tolist(), (offsets[part + 1] - begins).tolist(), strict=True)

    def orders(self) -> set[Order]:
        """The place of every row."""
        return set(self.listed())

    def listed(self) -> list[Order]:
        """The place of each row, as they lie one behind the other."""
        return [(row[0], row[1], row[2]) for row in self._rows().tolist()]

    def _rows(self) -> NDArray[np.uint64]:
        return np.frombuffer(self._orders, np.uint64).reshape(-1, 3)
