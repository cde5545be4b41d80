"""The one place that writes files: whole or not at all, and over nothing but files.

A file takes its place by rename, which is safe for whoever reads it meanwhile; a device, a pipe or a socket
that stands there would be replaced by it for every process of the machine, and is written through instead.
Links are followed: what they lead to is written, and they stay.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from opcert.vocabulary.errors import unwritable

_STANDARD = (1, 2)
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ANEW = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_THROUGH = os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC
_STREAMS = (stat.S_ISCHR, stat.S_ISBLK, stat.S_ISFIFO, stat.S_ISSOCK)


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text as `write_bytes` does."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, raw: bytes, what: str = "the file") -> Path:
    """Write bytes by rename, or through what is no file; returns the path.

    Raises UserError, which says `what` they are, where that cannot be done.
    """
    made: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_stream(path):
            _write_through(path, raw)
            return path
        end = end_of(path)
        handle, name = tempfile.mkstemp(prefix=f".{end.name}.", dir=end.parent)
        made = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        made.chmod(0o644)
        put_in_place(made, end)
    except OSError as error:
        if made is not None:
            made.unlink(missing_ok=True)
        raise unwritable(what, path, error) from error
    return path


def place_bytes(path: Path, raw: bytes, making: Path) -> None:
    """Write bytes in a folder of our own, and give them their place by rename; OSError where that fails.

    The folder lies on the file system of the path.
    """
    with open_new(making / path.name) as file:
        file.write(raw)
    put_in_place(making / path.name, path)


def put_in_place(made: Path, path: Path) -> None:
    """Give a file that is whole the place of the file that may stand there.

    Raises OSError where that cannot be, or where what stands there is no file.
    """
    end = end_of(path)
    check_replaceable(end)
    made.replace(end)


def open_new(path: Path) -> IO[bytes]:
    """A new file, in the place of one of ours that may stand there; it can be read too. Raises OSError.

    A link that stands there goes, and what it leads to stays.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    return os.fdopen(os.open(path, _NEW, 0o644), "w+b")


def open_anew(path: Path) -> IO[bytes]:
    """The file of a path, made where there is none, emptied, and open for reading too.

    Raises OSError where that cannot be, or where what stands there is no file.
    """
    check_replaceable(path)
    descriptor = os.open(path, _ANEW, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _no_file(path)
        os.ftruncate(descriptor, 0)
        return os.fdopen(descriptor, "w+b")
    except BaseException:
        os.close(descriptor)
        raise


def end_of(path: Path) -> Path:
    """Where a path leads: the path itself, or what stands at the end of a link."""
    return Path(os.path.realpath(path))


def is_stream(path: Path) -> bool:
    """Whether what stands there is written through: a device, a pipe, or standard output by another name."""
    found = _state(path)
    if found is None:
        return False
    return any(holds(found.st_mode) for holds in _STREAMS) or _standard_stream(found) is not None


def check_replaceable(path: Path) -> None:
    """Raise OSError where a path leads to what is no file, or to the one that we print into."""
    found = _state(path)
    if found is not None and (not stat.S_ISREG(found.st_mode) or is_stream(path)):
        raise _no_file(path)


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _no_file(path: Path) -> OSError:
    if path.is_dir():
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    what = "a device, a pipe or what this command prints into, where a file should be"
    return OSError(errno.EINVAL, what, str(path))


def _standard_stream(found: os.stat_result) -> int | None:
    """The descriptor of standard output or standard error, where that is what was found."""
    for descriptor in _STANDARD:
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def _write_through(path: Path, raw: bytes) -> None:
    standard = _standard_stream(path.stat())
    if standard is None:
        descriptor = os.open(path, _THROUGH)
    else:
        # What was said before stands before it, also where it waits to be written.
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        descriptor = os.dup(standard)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        rest = memoryview(raw)
        while rest:
            rest = rest[file.write(rest) or 0 :]
