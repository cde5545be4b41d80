"""Locks of files (`flock`) between processes, and who holds one.

The system lets go of a lock when its process ends, however it does; processes that it starts do not have it.
A lock whose file is there only as long as it is held is taken with `lock_at` and ends with `let_go`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from opcert.vocabulary.regular_files import is_still_at

PATIENCE = 1.0
"""Seconds of waiting that nobody is told of."""
_NAP = 0.05
_TRIES = 100
_MOST_TOLD = 1 << 16
_OPENING = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Holder:
    """Who holds a lock: a process, what it does, and since when."""

    process: int
    what: str
    since: str

    @property
    def alive(self) -> bool:
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            return True
        return True


def open_lock(path: Path, *, make: bool = True) -> int:
    """Open the file of a lock; where another user left one that nobody may write, as it is.

    OSError where it cannot be opened, and where something that is no file stands there.
    """
    opening = _OPENING if make else _OPENING & ~os.O_CREAT
    try:
        descriptor = os.open(path, opening, 0o644)
    except PermissionError as denied:
        try:
            descriptor = os.open(path, opening & ~os.O_RDWR & ~os.O_CREAT)
        except FileNotFoundError:  # it is the folder in which nobody may write
            raise denied from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EEXIST, "something that is no file stands where its lock should be", str(path))
    return descriptor


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock what is open; whether the lock was free. OSError where the file system has no locks."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(
    descriptor: int, tell: Callable[[Holder | None], object], patience: float | None = None
) -> None:
    """Lock what is open; `tell` is told of who holds it, once and after so many seconds (`PATIENCE`)."""
    end = time.monotonic() + (PATIENCE if patience is None else patience)
    while not try_lock(descriptor):
        if time.monotonic() >= end:
            tell(read_holder(descriptor))
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return
        time.sleep(_NAP)


def lock_at(path: Path, take: Callable[[int], object]) -> int:
    """The descriptor of the file at a path, made where there is none, that `take` has locked.

    Raises what `take` does, and OSError where there can be no such file.
    """
    for _ in range(_TRIES):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = open_lock(path)
        except FileNotFoundError:  # who let go of it has removed the folder
            continue
        try:
            take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if is_still_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # who let go of it has removed the file
    raise OSError(errno.EAGAIN, "its lock changes too fast", str(path))


def let_go(path: Path, descriptor: int) -> None:
    """Let go of a lock, and remove its file."""
    if is_still_at(path, descriptor):
        with suppress(OSError):
            path.unlink()
    os.close(descriptor)


def remove_left_behind(path: Path) -> None:
    """Remove the file of a lock that nobody holds: who did was killed. Who just opens it opens a new one."""
    descriptor = open_lock(path, make=False)
    try:
        if try_lock(descriptor) and is_still_at(path, descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


def write_holder(descriptor: int, what: str | None, process: int | None = None) -> None:
    """Say in the file of a lock which process holds it (this one), what for, and since when; or nothing."""
    with suppress(OSError):  # who it is, is a courtesy
        os.ftruncate(descriptor, 0)
        if what is not None:
            since = datetime.now(UTC).isoformat(" ", "seconds")
            told = {"process": process or os.getpid(), "what": what, "since": since}
            os.pwrite(descriptor, json.dumps(told).encode(), 0)


def read_holder(descriptor: int) -> Holder | None:
    """What the holder of a lock wrote of itself, which may be any text; None where that makes no sense."""
    try:
        told = json.loads(os.pread(descriptor, _MOST_TOLD, 0))
        return Holder(int(told["process"]), str(told["what"]), str(told["since"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
