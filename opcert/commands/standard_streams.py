"""Standard output and standard error: there whoever calls, and never what decides the exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

_NAMES = {1: "standard output", 2: "standard error"}


def open_standard_streams() -> None:
    """Have standard input, output and error, where any was closed; call this before anything is opened.

    A file that is opened later would have the number of one that is missing, and what is said would go
    into it. What cannot be shown is escaped, and what nobody reads any more goes nowhere.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            _go_nowhere(descriptor)
    sys.stdout, sys.stderr = _unhindered(sys.stdout, 1), _unhindered(sys.stderr, 2)


def _go_nowhere(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere == descriptor:
        os.set_inheritable(descriptor, True)
    else:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _unhindered(stream: Any, descriptor: int) -> Any:
    """A stream that goes on when its reader does not; one that stands in for the system's own stays."""
    if stream is None:
        return _open(descriptor, "utf-8", line_buffering=False)
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    raw = getattr(stream.buffer, "raw", stream.buffer)  # PYTHONUNBUFFERED leaves the buffer out
    if type(raw) is not io.FileIO or raw.fileno() != descriptor:
        stream.reconfigure(errors="backslashreplace")
        return stream
    stream.flush()
    at_once = stream.line_buffering or stream.write_through
    return _open(descriptor, stream.encoding, line_buffering=at_once)


def _open(descriptor: int, encoding: str, *, line_buffering: bool) -> io.TextIOWrapper:
    raw = _HeedlessWriter(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=line_buffering
    )


class _HeedlessWriter(io.FileIO):
    """Writes to a descriptor as long as somebody reads there; other errors name the stream, once."""

    def write(self, raw: Any, /) -> int:
        try:
            return super().write(raw) or 0
        except OSError as error:
            _go_nowhere(self.fileno())  # nor has the interpreter a complaint at its end
            if error.errno == errno.EPIPE:
                return len(raw)
            raise OSError(error.errno, error.strerror, _NAMES[self.fileno()]) from error
