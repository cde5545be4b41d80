"""A first look at a runtime while cases are still made: what came of those that are there, told.

The run itself asks every case, in the order of the suite, when the suite is whole: its record hangs on
nothing that happens here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from opcert.commands.command_progress import VerdictTally
from opcert.commands.verbosity import Pace

if TYPE_CHECKING:
    from conformance.models.case_models import Form
    from conformance.processes.worker_limits import Limits
    from conformance.running.lane import Lane
    from conformance.running.run_options import Task
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suite_parts import SuitePart
    from generator.making.suites.suite_making import Made, Progress

_PATIENCE = 10.0
"""Seconds that the worker has for going when the suite is whole."""
_MOST_NAMED = 4
_MOST_CASES = 32
"""So many cases of an operator, or a few more, spread over all: cases are made on the same processors."""


class FirstLook:
    """Runs some cases of each operator on a worker of its own, in the order in which they are made.

    It begins with the first operator whose cases were not kept. Only cases that demand an answer are asked:
    whether a refusal is right shows when the valid call beside it is there, too. A runtime that does not
    start, and whatever else goes wrong, ends it in silence: the run itself tells that.
    """

    def __init__(self, runtime: Runtime, limits: Limits) -> None:
        self._runtime = runtime
        self._limits = limits
        self._parts: SimpleQueue[SuitePart | None] = SimpleQueue()
        self._tally = VerdictTally()
        self._failing: dict[str, int] = {}
        self._operators = 0
        self._thread: threading.Thread | None = None
        self._lane: Lane | None = None
        self._ended = False

    @contextmanager
    def beside(self, progress: Progress) -> Iterator[Progress]:
        """A progress that tells the same, and now and then what came of the cases that are there."""

        def tell(told: Made | str) -> None:
            progress(told)
            if isinstance(told, str) or told.part is None:
                return
            self._parts.put(told.part)
            if self._thread is None and not told.kept and told.left:
                self._thread = threading.Thread(target=self._look, args=(progress,), daemon=True)
                self._thread.start()

        try:
            yield tell
        finally:
            self._end()

    def _end(self) -> None:
        self._ended = True
        self._parts.put(None)
        if self._lane is not None:
            self._lane.stop()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def _look(self, tell: Callable[[str], object]) -> None:
        # Imported here and below, because whoever has a ready-made suite needs none of it.
        from conformance.running.lane import Lane
        from conformance.runtimes.runtimes import install

        def announce(sentence: str) -> None:
            tell(sentence)

        # Whatever it is, the run meets it again, and tells it.
        with suppress(Exception):
            installed = install(self._runtime, announce)
            self._lane = Lane(installed.launch, self._runtime.adapter, self._limits)
            try:
                self._look_at_parts(self._lane, tell)
            finally:
                self._lane.kill()

    def _look_at_parts(self, lane: Lane, tell: Callable[[str], object]) -> None:
        from conformance.judging.judge import decisive, judge
        from conformance.judging.verdicts import FAILING

        form, pace = lane.start().forms[0], Pace()
        while not self._ended and (part := self._parts.get()) is not None:
            for task, response in lane.run(self._tasks(part, form)):
                verdict = judge(task.case, decisive(task.case, response)).verdict
                self._tally.count(verdict)
                if verdict in FAILING:
                    name = part.operator.short
                    self._failing[name] = self._failing.get(name, 0) + 1
            self._operators += 1
            if not self._ended and (self._operators == 1 or pace.is_due()):
                tell(str(self))

    def _tasks(self, part: SuitePart, form: Form) -> Iterator[Task]:
        from conformance.running.run_options import Task
        from conformance.suite.suite_parts import cases_in

        for case in cases_in(part, max(1, len(part.entries) // _MOST_CASES)):
            if self._ended:
                return
            if case.demand == "answer":
                yield Task.of(case, form)

    def __str__(self) -> str:
        from reports.text.phrasing import plural

        said = f"first look at {plural(self._operators, 'operator')}: {self._tally}"
        worst = sorted(self._failing, key=lambda name: (-self._failing[name], name))
        named = [f"{name} {self._failing[name]}" for name in worst[:_MOST_NAMED]]
        return f"{said}; failing most: {', '.join(named)}" if named else said
