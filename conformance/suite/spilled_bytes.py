"""Bytes that are put one behind the other and read back: few in memory, many in a file without a name."""

from __future__ import annotations

import os
import tempfile
from typing import IO

MOST_IN_MEMORY = 4 << 20
"""Bytes that are kept in memory before all of them go to the file."""
_TOGETHER = 1 << 20


class SpilledBytes:
    """Pieces of bytes, each read back by where it begins; reading may go on in several threads.

    The file lies where temporary files go, and is gone with this object or the process, however it ends.
    Where none can be made, or there is no room for it, the bytes stay in memory.
    """

    def __init__(self, most_in_memory: int = MOST_IN_MEMORY) -> None:
        self._most: float = most_in_memory
        self._file: IO[bytes] | None = None
        self._in_file = 0
        self._pending = bytearray()

    def __len__(self) -> int:
        return self._in_file + len(self._pending)

    def append(self, piece: bytes) -> int:
        """Put a piece behind the others; where it begins."""
        begin = len(self)
        self._pending += piece
        if len(self._pending) > (self._most if self._file is None else max(_TOGETHER, self._most)):
            self._spill()
        return begin

    def read(self, begin: int, length: int) -> bytes:
        """Some bytes of one piece, or of several that were put one behind the other."""
        if begin >= self._in_file:
            at = begin - self._in_file
            return bytes(self._pending[at : at + length])
        assert self._file is not None
        found = os.pread(self._file.fileno(), min(length, self._in_file - begin), begin)
        return found if len(found) == length else found + bytes(self._pending[: length - len(found)])

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="opcert-")  # noqa: SIM115 - it goes with this object
            os.pwrite(self._file.fileno(), self._pending, self._in_file)
        except OSError:
            self._most = float("inf")
            return
        self._in_file += len(self._pending)
        self._pending = bytearray()
