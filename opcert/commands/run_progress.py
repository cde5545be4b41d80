"""How a run shows its progress on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter

from conformance.judging.judge import FAILING
from conformance.recording.rows import Result
from conformance.running.progress import Progress
from opcert.commands.terminal import say

_SECONDS_BETWEEN_LINES = 5.0


def choose_progress() -> Progress:
    """The progress that suits standard error."""
    if not sys.stderr.isatty():
        return PlainProgress()
    # Imported here, because a log does without it.
    from opcert.commands.terminal_progress import TerminalProgress

    return TerminalProgress()


class Counts:
    """Rows seen so far: how many, and how many of each verdict."""

    def __init__(self) -> None:
        self.rows = 0
        self.verdicts: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        self.rows += 1
        self.verdicts[result.verdict] += 1

    def __str__(self) -> str:
        passed = self.verdicts["pass"]
        failing = sum(self.verdicts[each] for each in FAILING)
        return f"{passed} pass, {failing} failing, {self.rows - passed - failing} other"


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
