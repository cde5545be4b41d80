"""The end of what a worker prints on standard error."""

from __future__ import annotations

import os

_CHUNK = 1 << 20
_TAIL = 64 << 10
_KEPT_LINES = 20
_KEPT_CHARACTERS = 2000


class StderrTail:
    """Reads a pipe that does not block, and keeps its last bytes.

    `printed` counts what was read so far; what came before `marked` is of no interest any more.
    """

    def __init__(self, descriptor: int) -> None:
        self.printed = 0
        self.marked = 0
        self._descriptor = descriptor
        self._kept = bytearray()

    def read(self) -> bool:
        """Read what is there, up to 1 MiB; False where the pipe has ended."""
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return True
        self.printed += len(data)
        self._kept += data
        if len(self._kept) > 2 * _TAIL:
            del self._kept[:-_TAIL]
        return bool(data)

    def last_lines(self) -> str:
        """At most 20 lines and 2,000 characters."""
        wanted = min(len(self._kept), self.printed - self.marked, 4 * _KEPT_CHARACTERS)
        text = bytes(self._kept[len(self._kept) - wanted :]).decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-_KEPT_LINES:])[-_KEPT_CHARACTERS:]
