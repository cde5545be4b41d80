"""How a run shows its progress on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from conformance.judging.verdicts import count_failing
from conformance.recording.rows import Result
from conformance.running.progress import Progress
from opcert.commands.terminal import note, open_console, say_beside_bar
from opcert.commands.verbosity import Pace

if TYPE_CHECKING:
    from rich.progress import TaskID

_SECONDS_BETWEEN_REFRESHES = 0.1


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
    return TerminalProgress()


class VerdictTally:
    """Rows seen so far: how many, and how many of each verdict."""

    def __init__(self) -> None:
        self.rows = 0
        self.verdicts: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        self.rows += 1
        self.verdicts[result.verdict] += 1

    def __str__(self) -> str:
        passed = self.verdicts["pass"]
        failing = count_failing(self.verdicts)
        return f"{passed} pass, {failing} failing, {self.rows - passed - failing} other"


class TerminalProgress:
    """One line that is redrawn: a bar, counts, and the time left."""

    def __init__(self) -> None:
        # Imported here, because a log does without it.
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._console = open_console(error=True)
        self._counts = VerdictTally()
        self._shown = 0.0
        self._task: TaskID | None = None
        self._bar = RichProgress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=False,
        )

    def note(self, sentence: str) -> None:
        say_beside_bar(self._console, f"opcert: {sentence}")

    def start(self, rows: int) -> None:
        self._task = self._bar.add_task("", total=rows)
        self._bar.start()

    def advance(self, result: Result) -> None:
        self._counts.add(result)
        if time.monotonic() - self._shown >= _SECONDS_BETWEEN_REFRESHES:
            self._show()

    def finish(self) -> None:
        if self._task is not None:
            self._show()
            self._bar.stop()

    def _show(self) -> None:
        assert self._task is not None
        self._shown = time.monotonic()
        self._bar.update(self._task, completed=self._counts.rows, description=str(self._counts))
