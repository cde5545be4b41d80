"""How long work shows on standard error: a bar on a terminal, else a line now and then (`Pace`).

Nothing here takes time to import: a log does without what draws bars.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.judging.verdicts import Verdict, count_failing
from opcert.commands.terminal import note, open_console, say, say_beside_bar
from opcert.commands.verbosity import Pace

if TYPE_CHECKING:
    from rich.progress import TaskID

    from conformance.recording.rows import Result
    from conformance.running.progress import Progress as RunProgress
    from generator.making.suites.suite_making import Made
    from generator.making.suites.suite_making import Progress as MakingProgress
    from opcert.vocabulary.names import OperatorName
    from specs.importing.reading import Progress as ReadingProgress
    from specs.importing.reading import ReadingStep

_SECONDS_BEFORE_ESTIMATE = 3.0
"""The quickest operators come first; what they took says nothing of the others."""
_SECONDS_BETWEEN_REFRESHES = 0.1


class _Bar:
    """Lines, and below them one that is redrawn: a bar, words, and the time; it begins with its first words.

    Where it is `counted` it says how much of how much, and the time that is left, and stays at the end.
    """

    def __init__(self, lead: str = "", *, counted: bool = False) -> None:
        import rich.progress as drawn

        words, self._console = drawn.TextColumn("{task.description}"), open_console(error=True)
        columns: tuple[drawn.ProgressColumn, ...]
        if counted:
            columns = (drawn.BarColumn(), drawn.MofNCompleteColumn(), words, drawn.TimeRemainingColumn())
        else:
            columns = (drawn.TextColumn(lead), drawn.BarColumn(), words, drawn.TimeElapsedColumn())
        self._bar = drawn.Progress(*columns, console=self._console, transient=not counted)
        self._task: TaskID | None = None

    @property
    def is_begun(self) -> bool:
        return self._task is not None

    def say(self, sentence: str) -> None:
        say_beside_bar(self._console, sentence)

    def begin(self, total: int | None = None) -> TaskID:
        """Show it; without `total` something is to come, and how much is not known yet."""
        if self._task is None:
            self._task = self._bar.add_task("", total=total)
            self._bar.start()
        return self._task

    def show(self, words: str, completed: int, total: int | None = None) -> None:
        """Draw it anew; without `total` that stays as it is."""
        self._bar.update(self.begin(total), total=total, completed=completed, description=words)

    def stop(self) -> None:
        if self._task is not None:
            self._bar.stop()


@contextmanager
def import_progress() -> Iterator[ReadingProgress]:
    """What to tell of each document that was read; the bar is gone when the context ends."""
    bar, pace = _Bar("reading") if sys.stderr.isatty() else None, Pace()

    def tell(step: ReadingStep) -> None:
        if bar is not None:
            bar.show(f"{step.documents}/{step.of_documents} documents", step.size, step.of_size)
        elif step.documents < step.of_documents and pace.is_due():
            say(f"reading: {step.documents} of {step.of_documents} documents", error=True)

    if bar is not None:
        bar.begin()
    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def call_progress(total: int) -> Iterator[Callable[[], None]]:
    """What to tell when the cases of one more call of a model are made; the bar is gone at the end."""
    from reports.text.phrasing import plural

    bar, pace, done = _Bar("making cases") if sys.stderr.isatty() else None, Pace(), 0

    def tell() -> None:
        nonlocal done
        done += 1
        if bar is not None:
            bar.show(f"{done}/{total} calls", done, total)
        elif pace.is_due() and done < total:
            note(f"cases are made for {done} of {total} calls")

    calls = plural(total, "call")
    if bar is None:
        note(f"making cases of {calls}")
    else:
        bar.begin(total)
    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()
    note(f"cases of {calls} made in {pace.seconds:.1f} s")


@contextmanager
def generation_progress(*, every: bool = True) -> Iterator[MakingProgress]:
    """What to tell of the making of a suite; the bar is gone when the context ends.

    Where there is no terminal, `every` operator has a line, or else there is one now and then.
    """
    if not sys.stderr.isatty():
        lines = _MakingLines(every)
        yield lines.tell
        lines.stop()
        return
    bar = _Bar("generating")
    try:
        yield _MakingBar(bar).tell
    finally:
        bar.stop()


class _MakingLines:
    """A line for everything that is told, and one at the end for all operators that were kept from before.

    Where `every` operator has a line, they stand in the order of the suite; where not, the one at the end is
    of those that were made, too.
    """

    def __init__(self, every: bool) -> None:
        self._every = every
        self._pace = Pace()
        self._kept = 0
        self._made = 0
        self._held: dict[OperatorName, str] = {}
        self._order: list[OperatorName] | None = None

    def tell(self, told: Made | str) -> None:
        if isinstance(told, str):
            say(told, error=True)
            return
        if told.kept:
            self._kept += 1
        else:
            self._made += 1
        if self._every:
            self._tell_in_order(told)
        elif not told.kept and self._pace.is_due():
            say(f"{_state(told)} in {self._pace.seconds:.0f} s", error=True)

    def _tell_in_order(self, told: Made) -> None:
        """Print the lines of the operators before which none is missing."""
        self._held[told.operator] = "" if told.kept else str(told)
        if self._order is None:
            self._order = sorted({*told.done, *told.left}, reverse=True)
        while self._order and self._order[-1] in self._held:
            line = self._held.pop(self._order.pop())
            if line:
                say(line, error=True)

    def stop(self) -> None:
        from reports.text.phrasing import plural

        if self._made and not self._every:
            made = f"cases of {plural(self._made, 'operator')} made in {self._pace.seconds:.1f} s"
            say(f"{made}, and {self._kept} kept from before" if self._kept else made, error=True)
        elif self._kept:
            say(f"{self._kept} of {plural(self._kept + self._made, 'operator')} kept from before", error=True)


class _MakingBar:
    """A bar over the cases, counts, time taken and time left."""

    def __init__(self, bar: _Bar) -> None:
        self._bar = bar
        self._begun = time.monotonic()
        from generator.making.suites.lock import known_sizes

        self._sizes = known_sizes()

    def tell(self, told: Made | str) -> None:
        if isinstance(told, str):
            self._bar.say(told)
            self._bar.begin()
            return
        done, left = self._size(told.done), self._size(told.left)
        text = _state(told)
        seconds = time.monotonic() - self._begun
        if left and seconds > _SECONDS_BEFORE_ESTIMATE:
            text += f", about {seconds * left / done:.0f} s left"
        self._bar.show(text, done, done + left)

    def _size(self, operators: tuple[OperatorName, ...]) -> int:
        return sum(self._sizes.get(str(operator), 100) for operator in operators)


def _state(made: Made) -> str:
    return f"{len(made.done)}/{len(made.done) + len(made.left)} operators, {made.cases_so_far} cases"


def choose_progress() -> RunProgress:
    """The progress of a run that suits standard error."""
    return TerminalProgress() if sys.stderr.isatty() else PlainProgress()


class PlainProgress:
    """A line at the start, now and then, and at the end."""

    def __init__(self) -> None:
        self._counts = VerdictTally()
        self._total = 0
        self._unit = ""
        self._pace = Pace()

    def note(self, sentence: str) -> None:
        note(sentence)

    def start(self, rows: int, cases: int) -> None:
        from reports.text.phrasing import plural

        self._total = rows
        self._pace = Pace()
        self._unit = "" if rows == cases else " runs"
        more = "" if rows == cases else f", {rows} runs of them with repeats and other forms"
        self.note(f"running {plural(cases, 'case')}{more}")

    def advance(self, result: Result) -> None:
        self._counts.add(result)
        if self._pace.is_due():
            done = self._counts.rows
            left = self._pace.seconds / done * (self._total - done)
            self.note(f"{done} of {self._total}{self._unit} ({self._counts}), about {left:.0f} s left")

    def finish(self) -> None:
        done = f"{self._counts.rows} of {self._total}{self._unit}"
        self.note(f"{done} in {self._pace.seconds:.1f} s ({self._counts})")


class TerminalProgress:
    """One line that is redrawn: a bar, counts, and the time left."""

    def __init__(self) -> None:
        self._bar = _Bar(counted=True)
        self._counts = VerdictTally()
        self._shown = 0.0

    def note(self, sentence: str) -> None:
        self._bar.say(f"opcert: {sentence}")

    def start(self, rows: int, cases: int) -> None:
        self._bar.begin(rows)

    def advance(self, result: Result) -> None:
        self._counts.add(result)
        if time.monotonic() - self._shown >= _SECONDS_BETWEEN_REFRESHES:
            self._show()

    def finish(self) -> None:
        if self._bar.is_begun:
            self._show()
            self._bar.stop()

    def _show(self) -> None:
        self._shown = time.monotonic()
        self._bar.show(str(self._counts), self._counts.rows)


class VerdictTally:
    """Rows seen so far: how many, and how many of each verdict."""

    def __init__(self) -> None:
        self.rows = 0
        self.verdicts: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        self.count(result.verdict)

    def count(self, verdict: Verdict) -> None:
        self.rows += 1
        self.verdicts[verdict] += 1

    def __str__(self) -> str:
        passed = self.verdicts["pass"]
        failing = count_failing(self.verdicts)
        return f"{passed} pass, {failing} failing, {self.rows - passed - failing} other"
