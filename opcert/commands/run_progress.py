"""How a run shows its progress on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from conformance.judge import FAILING
from conformance.progress import Progress
from conformance.results import Result

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_REFRESHES = 0.1


def choose_progress() -> Progress:
    """The progress that suits standard error."""
    return TerminalProgress() if sys.stderr.isatty() else PlainProgress()


class _Counts:
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
        self._counts = _Counts()
        self._total = 0
        self._begun = self._printed = time.monotonic()

    def note(self, sentence: str) -> None:
        print(f"opcert: {sentence}", file=sys.stderr, flush=True)

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


class TerminalProgress:
    """One line that is redrawn: a bar, counts, and the time left."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._counts = _Counts()
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
        self._console.print(f"opcert: {sentence}", markup=False, highlight=False)

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
