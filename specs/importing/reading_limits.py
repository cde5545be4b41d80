"""Bounds on the time and memory that one piece of untrusted input may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opcert.vocabulary.errors import Place, UserError

try:
    import resource
except ImportError:  # a system that has no such limits
    resource = None  # type: ignore[assignment] # the name stands for a module elsewhere

SECONDS = 60.0
MEBIBYTES = 1024


class _OutOfTime(BaseException):
    """Raised by the clock; no importer's own error handling takes it for a mistake in the document."""


@contextmanager
def limited(where: Place, seconds: float = SECONDS, mebibytes: int = MEBIBYTES) -> Iterator[None]:
    """Let what happens inside take so much time, and so much memory more than the process has now.

    Raises UserError, naming the place, where it takes more or is nested deeper than the interpreter goes.
    The clock runs in the main thread alone; memory is bounded where the system tells and limits it.
    """
    try:
        with _memory(mebibytes), _clock(seconds):
            yield
    except _OutOfTime:
        raise UserError("the document takes too long to read", got=f"more than {seconds:g} s",
                        expected="text as operator documents have it", where=where) from None  # fmt: skip
    except MemoryError:
        raise UserError("the document takes too much memory to read", got=f"more than {mebibytes} MiB",
                        expected="text as operator documents have it", where=where) from None  # fmt: skip
    except RecursionError:
        raise UserError("the document is nested too deeply to be read", where=where) from None


@contextmanager
def _clock(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _memory(mebibytes: int) -> Iterator[None]:
    size = _address_space()
    if resource is None or size is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size + mebibytes * 2**20
    if before[0] != resource.RLIM_INFINITY:
        wanted = min(wanted, before[0])
    resource.setrlimit(resource.RLIMIT_AS, (wanted, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int | None:
    """The bytes of address space that the process has now; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return None
    return pages * resource.getpagesize()
