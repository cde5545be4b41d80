"""The end of what a worker prints on standard error."""

from __future__ import annotations

import os

from conformance.processes.last_words import find_last_words

_CHUNK = 1 << 20
_TAIL = 64 << 10
_KEPT_LINES = 20
_KEPT_CHARACTERS = 2000
_LONGEST_REASON = 500


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
        """At most 20 lines and 2,000 characters, and before them the reason, where that is further up."""
        wanted = min(len(self._kept), self.printed - self.marked)
        text = bytes(self._kept[len(self._kept) - wanted :]).decode("utf-8", "replace")
        last = "\n".join(text.splitlines()[-_KEPT_LINES:])[-_KEPT_CHARACTERS:]
        # The stack behind them is longer than all that is kept.
        said = find_last_words(text)
        if said is None or said.printed in last:
            return last
        head = f"{said.printed[:_LONGEST_REASON]}\n...\n"
        return head + last[len(head) - _KEPT_CHARACTERS :]
