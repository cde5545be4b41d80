"""Opening files that somebody names: regular ones alone, and no more of them than is bearable.

A pipe would keep the reader waiting for ever, and a device never ends. Errors are those of the system, so
that whoever opens a file tells of all in one way.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

FileState = tuple[int, int, int]
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def open_regular(path: Path, most: int | None = None) -> io.BufferedReader:
    """The open file of a path.

    Raises OSError where it cannot be opened, is no regular file, or has more than `most` bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # what the system says of a socket
            raise OSError(errno.EINVAL, "a socket, and no file", str(path)) from error
        raise
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error), str(path)) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = stat.S_IFMT(status.st_mode)
            code = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
            raise OSError(code, f"{_KINDS.get(kind, 'something else')}, and no file", str(path))
        if most is not None and status.st_size > most:
            raise OSError(
                errno.EFBIG, f"it has {status.st_size} bytes; at most {most} are expected", str(path)
            )
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """All bytes of a regular file that has at most so many; raises OSError as `open_regular` does."""
    with open_regular(path, most) as file:
        raw = file.read(most + 1)  # it may grow while it is read
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return raw


def is_still_at(path: Path, descriptor: int) -> bool:
    """Whether what was opened is still what stands there: nobody has removed, renamed or replaced it."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except OSError:
        return False


def file_state(path: Path) -> FileState | None:
    """A file's time, size and number, of which one changes where it is written; None where there is none."""
    found = path.stat() if path.is_file() else None
    return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)
