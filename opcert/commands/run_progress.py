"""How a run shows its progress on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys

from conformance.recording.rows import Result
from conformance.running.progress import Progress
from opcert.commands.run_counts import VerdictTally
from opcert.commands.terminal import note
from opcert.commands.verbosity import Pace


class PlainProgress:
    """A line at the start, now and then, and at the end."""

    def __init__(self) -> None:
        self._counts = VerdictTally()
        self._total = 0
        self._pace = Pace()

    def note(self, sentence: str) -> None:
        note(sentence)

    def start(self, rows: int) -> None:
        self._total = rows
        self._pace = Pace()
        self.note(f"running {rows} cases")

    def advance(self, result: Result) -> None:
        self._counts.add(result)
        if self._pace.is_due():
            done = self._counts.rows
            left = self._pace.seconds / done * (self._total - done)
            self.note(f"{done} of {self._total} ({self._counts}), about {left:.0f} s left")

    def finish(self) -> None:
        self.note(f"{self._counts.rows} of {self._total} in {self._pace.seconds:.1f} s ({self._counts})")


def choose_progress() -> Progress:
    """The progress that suits standard error."""
    if not sys.stderr.isatty():
        return PlainProgress()
    # Imported here, because a log does without it.
    from opcert.commands.terminal_progress import TerminalProgress

    return TerminalProgress()
