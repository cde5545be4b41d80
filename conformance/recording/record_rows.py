"""The rows of a record that is too long to be kept in memory, read from its file when they are looked at."""

from __future__ import annotations

import json
import os
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from conformance.recording.rows import Result


class RecordRows(Sequence[Result]):
    """Rows by where they begin and end in a file, which is known to hold them.

    `descriptor` is of the file, and closed with the last use of this object; the file may be moved or removed
    until then. `offsets` has one number more than there are rows. `in_order` says that the cases stand in
    suite order, each with its rows together.
    """

    def __init__(self, descriptor: int, offsets: array[int], *, in_order: bool) -> None:
        self.in_order = in_order
        self._descriptor = descriptor
        self._offsets = offsets
        weakref.finalize(self, os.close, descriptor)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, position: int) -> Result: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[Result, ...]: ...

    def __getitem__(self, position: int | slice) -> Result | tuple[Result, ...]:
        if isinstance(position, slice):
            return tuple(self._row(each) for each in range(*position.indices(len(self))))
        if not -len(self) <= position < len(self):
            raise IndexError(position)
        return self._row(position % len(self))

    def __iter__(self) -> Iterator[Result]:
        return map(self._row, range(len(self)))

    def _row(self, position: int) -> Result:
        begin, end = self._offsets[position], self._offsets[position + 1]
        return Result.from_json(json.loads(os.pread(self._descriptor, end - begin, begin)))
