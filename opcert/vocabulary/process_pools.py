"""Processes of our own that share some work, and what is said where the system ends one of them."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from opcert.vocabulary.errors import SystemFailed

T = TypeVar("T")
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL})
"""Signals of mistakes in code: whoever ends a process from without sends others."""
_MOST_NAMED = 5
FEWER = "Choose fewer processes (-j 1), or give them more memory."
"""What to do where a command lets its processes be counted."""


@contextmanager
def process_pool(
    processes: int,
    deed: str,
    under_way: Callable[[], Iterable[object]],
    initializer: Callable[[], object] | None = None,
    remedy: str = FEWER,
) -> Iterator[ProcessPoolExecutor]:
    """Processes that are started afresh, never forked: runtimes and test runners hold threads.

    They look for cycles of objects as seldom as this one, unless an `initializer` is what they begin with.
    Whoever is interrupted does not wait for what is under way. Where one of them is ended from without,
    SystemFailed is raised: it names the `deed` ("making the cases of"), what may have been `under_way`, asked
    then and the oldest first, and the `remedy`.
    """
    context = _Remembering()
    begin = initializer or partial(gc.set_threshold, *gc.get_threshold())
    try:
        with ProcessPoolExecutor(processes, context, begin) as pool:
            try:
                yield pool
            except BaseException:
                for child in active_children():
                    child.terminate()
                raise
    except BrokenProcessPool as error:
        ended = _ended_by(context.started)
        if ended is None:
            raise
        named = list(dict.fromkeys(map(str, under_way())))[: min(processes, _MOST_NAMED)]
        raise SystemFailed(
            f"a process that was {deed} {' or '.join(named) or 'something'} was ended by signal {ended:d}",
            got=_cause(ended),
            remedy=remedy,
        ) from error


def broken_off(jobs: Mapping[T, Future[Any]]) -> Iterator[T]:
    """What was not through when the processes of a pool were lost, in the order in which it was asked for."""
    for named, job in jobs.items():
        if not job.done() or job.cancelled() or isinstance(job.exception(), BrokenProcessPool):
            yield named


class _Remembering(SpawnContext):
    """A context that knows which processes were started in it."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[BaseProcess] = []

    def Process(self, *args: Any, **more: Any) -> BaseProcess:  # type: ignore[override] # noqa: N802
        self.started.append(super().Process(*args, **more))
        return self.started[-1]


def _ended_by(processes: Iterable[BaseProcess]) -> signal.Signals | None:
    """The signal from without that ended one; the others are then told to end, by SIGTERM."""
    codes = [process.exitcode or 0 for process in processes]
    found = sorted({-code for code in codes if code < 0}, key=lambda each: (each == signal.SIGTERM, each))
    if not found or found[0] in _CRASHES or any(code > 0 for code in codes):
        return None
    return signal.Signals(found[0])


def _cause(ended: signal.Signals) -> str:
    if ended is signal.SIGKILL:
        return f"{ended.name}, which the system sends where memory is short"
    return ended.name
