"""A bound on the time that one call may take: of the processor, so that a busy machine changes nothing."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_TICK = 0.25


class OutOfTime(BaseException):
    """Raised in the thread whose time is over; no handling of errors takes it for one of a call."""


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what happens inside once this thread has computed for so many seconds.

    It works in any thread, as a cluster's workers need it. One step of C code is never interrupted.
    """
    clock = time.pthread_getcpuclockid(threading.get_ident())
    end = time.clock_gettime(clock) + seconds
    watched, guard, over = threading.get_ident(), threading.Lock(), threading.Event()

    told = False

    def watch() -> None:
        nonlocal told
        # Told again and again: where it falls into a finalizer it is lost.
        while not over.wait(_TICK):
            with guard:
                if not over.is_set() and time.clock_gettime(clock) > end:
                    told = True
                    _raise_in(watched)

    watcher = threading.Thread(target=watch, name="call clock", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        try:
            with guard:
                over.set()
            if told:
                _take_what_was_told()
        except OutOfTime:
            with guard:
                over.set()
        watcher.join()


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))


def _take_what_was_told() -> None:
    """Let come what was told and has not come: the interpreter looks at the end of each turn of a loop."""
    for _ in range(1_000):
        pass
