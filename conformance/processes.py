"""What the system tells of processes: their memory, their descendants, and those left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_ROUNDS = 20


def resident_bytes(process: int) -> int:
    """Resident memory of a process and its descendants in bytes; 0 where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return _resident_by_ps(process)
    return sum(_resident_of(each) for each in (process, *descendants(process)))


def descendants(process: int) -> list[int]:
    """The ids of a process's children, their children and so on, as far as the system tells."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*"):
        try:
            children = (task / "children").read_text()
        except OSError:
            continue
        for child in children.split():
            found += [int(child), *descendants(int(child))]
    return found


def kill_all(process: int) -> None:
    """Kill a process that nobody has waited for yet, its descendants, and its process group."""
    # The group's id is the process's until it is waited for, so nobody else's processes are met.
    for each in descendants(process):
        _kill(each)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def kill_left_behind(mark: str) -> None:
    """Kill every process that was started with `mark` in the value of a variable of its environment.

    That finds those that took themselves out of their group and outlived their parent. They may be starting
    others at the moment, so it is looked until nobody is left.
    """
    for _ in range(_ROUNDS):
        found = _marked(os.fsencode(mark))
        if not found:
            return
        for each in found:
            _kill(each)


def _marked(mark: bytes) -> list[int]:
    found = []
    with suppress(OSError):  # there is no /proc elsewhere than on Linux
        for name in os.listdir("/proc"):  # noqa: PTH208 - ten times as fast as Path.iterdir
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 - as above
                    if mark in file.read():
                        found.append(int(name))
    return found


def _kill(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


def _resident_of(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _resident_by_ps(process: int) -> int:
    finished = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return int(finished.stdout.split()[0]) * 1024 if finished.stdout.split() else 0
