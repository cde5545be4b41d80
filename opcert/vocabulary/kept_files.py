"""Files that a cache keeps: the newest of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def remove_oldest(files: Iterable[Path], most: int, most_bytes: int | None = None) -> None:
    """Remove what was written longest ago of more than so many files, or of more than so many bytes together.

    The newest one stays whatever its size. A file that another process has removed meanwhile is gone.
    """
    found = []
    for each in files:
        with suppress(FileNotFoundError):
            status = each.stat()
            found.append((status.st_mtime_ns, status.st_size, each))
    size = 0
    for number, (_, length, each) in enumerate(sorted(found, reverse=True)):
        size += length
        if number >= most or (number and most_bytes is not None and size > most_bytes):
            each.unlink(missing_ok=True)
