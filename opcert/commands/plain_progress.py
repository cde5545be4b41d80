"""How a run shows its progress where there is no terminal: plain lines."""

from __future__ import annotations

import time

from conformance.recording.rows import Result
from opcert.commands.run_counts import Counts
from opcert.commands.terminal import say

_SECONDS_BETWEEN_LINES = 5.0


class PlainProgress:
    """A line at the start, every few seconds, and at the end."""

    def __init__(self) -> None:
        self._counts = Counts()
        self._total = 0
        self._begun = self._printed = time.monotonic()

    def note(self, sentence: str) -> None:
        say(f"opcert: {sentence}", error=True)

    def start(self, rows: int) -> None:
        self._total = rows
        self._begun = self._printed = time.monotonic()
        self.note(f"running {rows} cases")

    def advance(self, result: Result) -> None:
        self._counts.add(result)
        now = time.monotonic()
        if now - self._printed >= _SECONDS_BETWEEN_LINES:
            self._printed = now
            done = self._counts.rows
            left = (now - self._begun) / done * (self._total - done)
            self.note(f"{done} of {self._total} ({self._counts}), about {left:.0f} s left")

    def finish(self) -> None:
        seconds = time.monotonic() - self._begun
        self.note(f"{self._counts.rows} of {self._total} in {seconds:.1f} s ({self._counts})")
