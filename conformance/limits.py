"""What a worker may take: time and memory; and how its memory is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """Limits of one worker: seconds to start and for each case, resident bytes, and bytes of an answer."""

    start_seconds: float = 120.0
    case_seconds: float = 20.0
    resident_bytes: int = 4 << 30
    answer_bytes: int = 1 << 30


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
