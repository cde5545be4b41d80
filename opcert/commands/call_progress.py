"""How the making of cases for a model's calls shows on standard error: a bar on a terminal, else lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from opcert.commands.terminal import open_console, say

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def call_progress(total: int) -> Iterator[Callable[[int], None]]:
    """What to tell of each call whose cases are made: how many calls are through."""
    if not sys.stderr.isatty():
        told = time.monotonic()

        def tell(done: int) -> None:
            nonlocal told
            now = time.monotonic()
            if now - told >= _SECONDS_BETWEEN_LINES and done < total:
                told = now
                say(f"opcert: cases are made for {done} of {total} calls", error=True)

        yield tell
        return
    bar = RichProgress(
        TextColumn("making cases"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} calls"),
        TimeElapsedColumn(),
        console=open_console(error=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
