"""How the making of a suite shows on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from generator.making.suites.lock import read_lock
from generator.making.suites.suite_making import Made, Progress
from opcert.commands.terminal import open_console, say, say_beside_bar
from opcert.commands.verbosity import Pace
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from reports.text.phrasing import plural

_SECONDS_BEFORE_ESTIMATE = 3.0
"""The quickest operators come first; what they took says nothing of the others."""


@contextmanager
def generation_progress(*, every: bool = True) -> Iterator[Progress]:
    """What to tell of the making of a suite; the bar is gone when the context ends.

    Where there is no terminal, `every` operator has a line, or else there is one now and then.
    """
    if not sys.stderr.isatty():
        lines = _Lines(every)
        yield lines.tell
        lines.stop()
        return
    bar = _Bar()
    try:
        yield bar.tell
    finally:
        bar.stop()


class _Lines:
    """A line for everything that is told, and one at the end for all operators that were kept from before.

    Where not `every` operator has a line, the one at the end is of those that were made, too.
    """

    def __init__(self, every: bool) -> None:
        self._every = every
        self._pace = Pace()
        self._kept = 0
        self._made = 0

    def tell(self, told: Made | str) -> None:
        if isinstance(told, Made) and told.kept:
            self._kept += 1
            return
        if isinstance(told, Made):
            self._made += 1
            if not self._every:
                if self._pace.is_due():
                    say(f"{_state(told)} in {self._pace.seconds:.0f} s", error=True)
                return
        say(str(told), error=True)

    def stop(self) -> None:
        if self._made and not self._every:
            made = f"cases of {plural(self._made, 'operator')} made in {self._pace.seconds:.1f} s"
            say(f"{made}, and {self._kept} kept from before" if self._kept else made, error=True)
        elif self._kept:
            say(f"{self._kept} of {plural(self._kept + self._made, 'operator')} kept from before", error=True)


class _Bar:
    """Lines, and below them one that is redrawn: a bar over the cases, counts, time taken and time left."""

    def __init__(self) -> None:
        self._console = open_console(error=True)
        self._begun = time.monotonic()
        self._sizes = _known_sizes()
        self._task: TaskID | None = None
        self._bar = RichProgress(
            TextColumn("generating"),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )

    def tell(self, told: Made | str) -> None:
        if not isinstance(told, Made):
            say_beside_bar(self._console, told)
        if self._task is None:
            # Something is to come, and how much is not known yet.
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        if isinstance(told, Made):
            self._bar.update(self._task, **self._state(told))

    def stop(self) -> None:
        if self._task is not None:
            self._bar.stop()

    def _state(self, made: Made) -> dict[str, Any]:
        done, left = self._size(made.done), self._size(made.left)
        text = _state(made)
        seconds = time.monotonic() - self._begun
        if left and seconds > _SECONDS_BEFORE_ESTIMATE:
            text += f", about {seconds * left / done:.0f} s left"
        return {"total": done + left, "completed": done, "description": text}

    def _size(self, operators: tuple[OperatorName, ...]) -> int:
        return sum(self._sizes.get(str(each), 100) for each in operators)


def _state(made: Made) -> str:
    return f"{len(made.done)}/{len(made.done) + len(made.left)} operators, {made.cases_so_far} cases"


def _known_sizes() -> dict[str, int]:
    """The number of cases of each operator in the locked suite: how long one takes goes with it."""
    try:
        return {name: each.cases for name, each in read_lock().versions.items()}
    except UserError:
        return {}
