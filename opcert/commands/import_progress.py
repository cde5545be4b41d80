"""How the reading of documents shows on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from opcert.commands.terminal import open_console, say
from specs.importing.reading import Progress, ReadingStep

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def import_progress() -> Iterator[Progress]:
    """What to tell of each document that was read; the bar is gone when the context ends."""
    if not sys.stderr.isatty():
        yield _Lines().tell
        return
    bar = RichProgress(
        TextColumn("reading"),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=open_console(error=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)

        def tell(step: ReadingStep) -> None:
            text = f"{step.documents}/{step.of_documents} documents"
            bar.update(task, total=step.of_size, completed=step.size, description=text)

        yield tell


class _Lines:
    """Says something only where it takes long enough that somebody wonders."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def tell(self, step: ReadingStep) -> None:
        now = time.monotonic()
        if now - self._told >= _SECONDS_BETWEEN_LINES and step.documents < step.of_documents:
            self._told = now
            say(f"reading: {step.documents} of {step.of_documents} documents", error=True)
