"""A worker's three pipes: frames to it, frames from it, and what it prints; none of them ever blocks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import time

from conformance.processes.frames import Frame, FrameReader
from conformance.processes.pipe_writer import PipeWriter
from conformance.processes.stderr_tail import StderrTail

_CHUNK = 1 << 20
_MOST_READS = 16
_END_SECONDS = 1.0


class WorkerStreams:
    """The pipes of a process that was started with all three. `max_bytes` bounds the blobs of one frame.

    `ended` says that no more frames will come than those that are there.
    """

    def __init__(self, process: subprocess.Popen[bytes], max_bytes: int) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._pipes = (process.stdin, process.stdout, process.stderr)
        self._in, self._out, self._err = (each.fileno() for each in self._pipes)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        for descriptor in (self._in, self._out):
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _CHUNK)
        self.ended = False
        self.tail = StderrTail(self._err)
        self._writer = PipeWriter(self._in)
        self._waits = False
        self._reader = FrameReader(max_bytes)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)

    def put(self, *pieces: bytes) -> None:
        """Put bytes behind those that are to be sent; `flush` and `move` send them."""
        self._writer.put(*pieces)

    @property
    def unsent(self) -> int:
        """How many pieces wait to be sent."""
        return len(self._writer)

    def flush(self) -> None:
        """Send as much as the worker takes at once."""
        waits = not self._writer.write()
        if waits and not self._waits:
            self._poll.register(self._in, select.POLLOUT)
        elif self._waits and not waits:
            self._poll.unregister(self._in)
        self._waits = waits

    def end_input(self) -> None:
        """Close the worker's standard input, once it has taken what was put; a second later at most."""
        end = time.monotonic() + _END_SECONDS
        while not self._writer.write() and time.monotonic() < end:
            time.sleep(0.001)
        self._pipes[0].close()

    def take(self) -> Frame | None:
        """The next frame if it is there whole; raises BrokenProtocol where none can begin."""
        return self._reader.take()

    @property
    def complete(self) -> bool:
        """Whether `take` would give a frame, or raise."""
        return self._reader.complete

    def move(self, seconds: float) -> bool:
        """Move bytes in all directions, waiting for the first for so long; whether there were any."""
        events = self._poll.poll(max(seconds, 0.0) * 1000)
        for descriptor, _ in events:
            if descriptor == self._out:
                self._read_frames()
            elif descriptor == self._in:
                self.flush()
            elif not self.tail.read():
                with contextlib.suppress(KeyError):
                    self._poll.unregister(self._err)
        return bool(events)

    def drain(self) -> None:
        """Read what is left of a worker that has gone, though others may hold its pipes open."""
        self._read_frames()
        self.ended = True

    def close(self) -> None:
        """Read the last of standard error and close everything."""
        for _ in range(_MOST_READS):
            self.tail.read()
        self._writer.forget()
        for pipe in self._pipes:
            pipe.close()

    def _read_frames(self) -> None:
        # A worker that floods its output must not keep anybody here.
        for _ in range(_MOST_READS):
            try:
                data = os.read(self._out, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self.ended = True
                return
            self._reader.feed(data)
            if len(data) < _CHUNK:
                return
