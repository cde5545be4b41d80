"""How a run shows its progress on a terminal: a bar, counts, and the time left."""

from __future__ import annotations

import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from conformance.recording.rows import Result
from opcert.commands.run_counts import VerdictTally
from opcert.commands.terminal import open_console, say_beside_bar

_SECONDS_BETWEEN_REFRESHES = 0.1


class TerminalProgress:
    """One line that is redrawn: a bar, counts, and the time left."""

    def __init__(self) -> None:
        self._console = open_console(error=True)
        self._counts = VerdictTally()
        self._shown = 0.0
        self._task: TaskID | None = None
        self._bar = Progress(
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
