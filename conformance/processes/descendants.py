"""What the system tells of processes: their descendants, those left behind, and their memory.

A process may go at any moment between two looks at it, and may forbid them: whatever cannot be looked at is
not there. `proc` stands in for the folder in which Linux tells of processes; elsewhere there is none.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

PROC = "/proc"
_ROUNDS = 20
_MOST = 1 << 16
"""So many descendants are looked for: who starts processes faster than they are found keeps nobody here."""


def descendants(process: int, proc: str = PROC) -> list[int]:
    """The ids of a process's children, their children and so on, as far as the system tells; each once."""
    found = {process: None}
    waiting = [process]
    while waiting and len(found) <= _MOST:
        for child in _children(waiting.pop(), proc):
            if child not in found:
                found[child] = None
                waiting.append(child)
    del found[process]
    return list(found)


def kill_all(process: int) -> None:
    """Kill a process that nobody has waited for yet, its descendants, and its process group."""
    # The group's id is the process's until it is waited for, so nobody else's processes are met.
    for descendant in descendants(process):
        _kill(descendant)
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)


def kill_left_behind(mark: str) -> None:
    """Kill every process that was started with `mark` in the value of a variable of its environment.

    That finds those that took themselves out of their group and outlived their parent. They may be starting
    others at the moment, so it is looked until nobody is left.
    """
    for _ in range(_ROUNDS):
        found = marked(mark)
        if not found:
            return
        for each in found:
            _kill(each)


def marked(mark: str, proc: str = PROC) -> list[int]:
    """The processes, this one left out, that were started with `mark` in their environment."""
    wanted, own = os.fsencode(mark), str(os.getpid())
    names = (name for name in names_in(proc) if name.isdigit() and name != own)
    return [int(name) for name in names if wanted in read_bytes(f"{proc}/{name}/environ")]


def names_in(folder: str) -> list[str]:
    """What is in a folder that may not be there (any more)."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - ten times as fast as Path.iterdir
    except OSError:
        return []


def read_bytes(path: str) -> bytes:
    """What is in a file that may not be there (any more), or may not be read: then nothing."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            return file.readall() or b""
    except OSError:
        return b""


def _children(process: int, proc: str) -> list[int]:
    tasks = f"{proc}/{process}/task"
    listed = [read_bytes(f"{tasks}/{task}/children").split() for task in names_in(tasks)]
    return [int(child) for children in listed for child in children if child.isdigit()]


def _kill(process: int) -> None:
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)


_EVERY = 0.05
_REST = 9
"""A look that took long is followed by so many times as long without one."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PART = re.compile(rb"^Pss:\s+(\d+) kB$", re.MULTILINE)


class MemoryWatch:
    """Watches the resident memory of a process and its descendants together; `limit` is in bytes.

    A page that several of them share counts once: each has its part of it (`Pss` in /proc). The system works
    long on that, so it is asked only where the sum of what each of them sees (never less) is over the limit.
    Two looks in a row must find too much, and a descendant counts from the second look at it on: between a
    fork and what it was made for, memory seems to be there twice.
    """

    def __init__(self, process: int, limit: int, *, every: float = _EVERY, proc: str = PROC) -> None:
        self._process = process
        self._limit = limit
        self._every = every
        self._proc = proc
        self._due = time.monotonic() + every
        self._known: frozenset[int] = frozenset()
        self._over = False

    def look(self) -> int | None:
        """The bytes in use where these are too many; None otherwise, and where a look would be too early."""
        begin = time.monotonic()
        if begin < self._due:
            return None
        excess = self._find_excess()
        end = time.monotonic()
        self._due = end + (self._every if self._over else max(self._every, _REST * (end - begin)))
        return excess

    def _find_excess(self) -> int | None:
        counted = self._counted()
        seen = [_resident(each, self._proc) for each in counted]
        if max(seen) > self._limit:  # whatever it shares, one process has that much
            return max(seen)
        before, self._over = self._over, False
        if sum(seen) <= self._limit:
            return None
        used = sum(_part(each, self._proc) for each in counted)
        self._over = used > self._limit
        return used if before and self._over else None

    def _counted(self) -> list[int]:
        """The process, and those of its descendants that were there at the last look."""
        found = descendants(self._process, self._proc)
        before, self._known = self._known, frozenset(found)
        return [self._process, *(each for each in found if each in before)]


def _resident(process: int, proc: str) -> int:
    """The resident bytes that a process sees; 0 where nobody tells."""
    if not sys.platform.startswith("linux"):
        return _resident_by_ps(process)
    words = read_bytes(f"{proc}/{process}/statm").split()
    return int(words[1]) * _PAGE if len(words) > 1 and words[1].isdigit() else 0


def _part(process: int, proc: str) -> int:
    """The resident bytes of a process, of a page that n processes share the nth part.

    Of a process that hides what it shares, all that it sees. 0 where it has gone, and on a system that does
    not tell (before Linux 4.14): there a process alone can have too much.
    """
    try:
        with open(f"{proc}/{process}/smaps_rollup", "rb") as file:  # noqa: PTH123 - many times a second
            found = _PART.search(file.read())
    except PermissionError:
        return _resident(process, proc)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _resident_by_ps(process: int) -> int:
    try:
        words = ["ps", "-o", "rss=", "-p", str(process)]
        told = subprocess.run(words, capture_output=True, check=False).stdout.split()
    except OSError:
        return 0
    return int(told[0]) * 1024 if told and told[0].isdigit() else 0
