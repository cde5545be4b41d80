"""A worker's three pipes: frames to it, frames from it, and what it prints; none of them ever blocks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from itertools import islice

from conformance.processes.frames import FrameReader

# A panic says where it was, with what was said below it (since Rust 1.73), or in quotes before it.
_SAID = re.compile(
    r"^(?:\s*what\(\):\s*(?P<thrown>.+)"
    r"|thread .* panicked at (?P<place>.+:\d+:\d+):\n(?P<below>.+)"
    r"|thread .* panicked at '(?P<quoted>.+)', (?P<where>.+:\d+:\d+))$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class LastWords:
    """The lines as they were printed, and their sense: the place in the source, if told, and the text."""

    printed: str
    sense: str


def find_last_words(stderr: str) -> LastWords | None:
    """The first of them in what was printed on standard error; None where there are none."""
    found = _SAID.search(stderr)
    if found is None:
        return None
    place = found["place"] or found["where"]
    text = found["thrown"] or found["below"] or found["quoted"]
    return LastWords(found[0], f"{place}: {text}" if place else text)


_CHUNK = 1 << 20
_MOST_READS = 16
_END_SECONDS = 1.0


_TAIL = 64 << 10
_KEPT_LINES = 20
_KEPT_CHARACTERS = 2000
_LONGEST_REASON = 500


class StderrTail:
    """Reads a pipe that does not block, and keeps its last bytes.

    `printed` counts what was read so far; what came before `marked` is of no interest any more.
    """

    def __init__(self, descriptor: int) -> None:
        self.printed = 0
        self.marked = 0
        self._descriptor = descriptor
        self._kept = bytearray()

    def read(self) -> bool:
        """Read what is there, up to 1 MiB; False where the pipe has ended."""
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return True
        self.printed += len(data)
        self._kept += data
        if len(self._kept) > 2 * _TAIL:
            del self._kept[:-_TAIL]
        return bool(data)

    def last_lines(self) -> str:
        """At most 20 lines and 2,000 characters, and before them the reason, where that is further up."""
        wanted = min(len(self._kept), self.printed - self.marked)
        text = bytes(self._kept[len(self._kept) - wanted :]).decode("utf-8", "replace")
        last = "\n".join(text.splitlines()[-_KEPT_LINES:])[-_KEPT_CHARACTERS:]
        # The stack behind them is longer than all that is kept.
        said = find_last_words(text)
        if said is None or said.printed in last:
            return last
        head = f"{said.printed[:_LONGEST_REASON]}\n...\n"
        return head + last[len(head) - _KEPT_CHARACTERS :]


_PIECES = 64


class PipeWriter:
    """Keeps bytes until the pipe takes them. What is put for a reader that has gone is forgotten."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unsent: deque[bytes | memoryview] = deque()

    def __len__(self) -> int:
        """How many pieces are not written yet."""
        return len(self._unsent)

    def put(self, *pieces: bytes) -> None:
        """Put bytes behind those that are to be written."""
        self._unsent.extend(filter(None, pieces))

    def write(self) -> bool:
        """Write as much as the pipe takes at once; whether that is all."""
        while self._unsent:
            pieces = list(islice(self._unsent, _PIECES))
            try:
                sent = os.writev(self._descriptor, pieces)
            except BlockingIOError:
                return False
            except OSError:
                # The reader has closed its end; reading from it will tell how it ended.
                self.forget()
                break
            for piece in pieces:
                if len(piece) > sent:
                    self._unsent[0] = memoryview(piece)[sent:]
                    break
                sent -= len(piece)
                self._unsent.popleft()
        return True

    def forget(self) -> None:
        """Let go of what is not written yet."""
        self._unsent.clear()


class WorkerStreams:
    """The pipes of a process that was started with all three. `max_bytes` bounds the blobs of one frame.

    `writer` has what is to be sent, which `flush` and `move` do, and `reader` the frames that have come.
    `ended` says that no more will come than those that are there.
    """

    def __init__(self, process: subprocess.Popen[bytes], max_bytes: int) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._pipes = (process.stdin, process.stdout, process.stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        for descriptor in (self._in, self._out):
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _CHUNK)
        self.ended = False
        self.tail = StderrTail(self._err)
        self.writer = PipeWriter(self._in)
        self._waits = False
        self.reader = FrameReader(max_bytes)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)

    def flush(self) -> None:
        """Send as much as the worker takes at once."""
        waits = not self.writer.write()
        if waits and not self._waits:
            self._poll.register(self._in, select.POLLOUT)
        elif self._waits and not waits:
            self._poll.unregister(self._in)
        self._waits = waits

    def end_input(self) -> None:
        """Close the worker's standard input, once it has taken what was put; a second later at most."""
        end = time.monotonic() + _END_SECONDS
        while not self.writer.write() and time.monotonic() < end:
            time.sleep(0.001)
        self._pipes[0].close()

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
        self.writer.forget()
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
            self.reader.feed(data)
            if len(data) < _CHUNK:
                return
