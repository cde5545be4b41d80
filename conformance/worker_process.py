"""One worker: a process that may die, hang, print or eat memory, and is killed with all its children."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from conformance.frames import BrokenProtocol, Frame, FrameReader, encode_frame
from conformance.limits import Limits, descendants, resident_bytes
from opcert.errors import RuntimeUnavailable

_PASSED_ON = ("LD_LIBRARY_PATH",)
# There are runtimes that install packages when they are imported, into whatever Python they find.
_INSTALLS_NOTHING = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_INDEX": "1",
    "PIP_NO_INPUT": "1",
    "UV_NO_CONFIG": "1",
    "UV_NO_INDEX": "1",
    "UV_OFFLINE": "1",
}
_TICK = 0.05
_CHUNK = 1 << 20
_TAIL = 64 << 10
_PIECES = 64
_LAST_READS = 16
_KEPT_LINES = 20
_KEPT_CHARACTERS = 2000


@dataclass(frozen=True)
class Launch:
    """How a worker is started: its command, the options of its `hello`, and variables that it needs."""

    command: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


class WorkerLost(Exception):
    """The worker is gone: it died, broke the protocol, or was killed for exceeding a limit."""

    def __init__(self, reason: str, stderr: str, signal_name: str | None = None, status: int | None = None):
        super().__init__(reason)
        self.reason = reason
        self.stderr = stderr
        self.signal_name = signal_name
        self.status = status


class WorkerHung(Exception):
    """The worker did not answer in time, and was killed."""

    def __init__(self, limit: float, stderr: str) -> None:
        super().__init__(f"no answer within {limit:g} s")
        self.limit = limit
        self.stderr = stderr


class Stopped(Exception):
    """Somebody asked for the end of the whole run while a worker was waited for."""


def worker_environment(folder: Path, program: str, more: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a worker: of the caller's, where programs and libraries lie and no more.

    Beside the worker's own `program` none of the Python environment that runs opcert can be found.
    """
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **kept,
        **_INSTALLS_NOTHING,
        "PATH": os.pathsep.join([str(Path(program).parent), *_foreign_folders()]),
        "LANG": "C.UTF-8",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUTF8": "1",
        **more,
    }


def _foreign_folders() -> list[str]:
    """The folders of the caller's PATH that are not of the environment that opcert runs in."""
    own = {Path(sys.executable).parent, Path(sys.prefix) / "bin", Path(sys.prefix) / "Scripts"}
    return [each for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(each) not in own]


class WorkerProcess:
    """A running worker. `stop` may be set by another thread's question; it is looked at while waiting.

    Raises RuntimeUnavailable where the command cannot be started at all.
    """

    def __init__(self, launch: Launch, limits: Limits) -> None:
        self.stop = False
        self._limits = limits
        self._folder = Path(tempfile.mkdtemp(prefix="opcert-worker-"))
        for each in ("home", "temporary", "work"):
            (self._folder / each).mkdir()
        try:
            self._process = subprocess.Popen(
                launch.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self._folder / "work",
                env=worker_environment(self._folder, launch.command[0], launch.environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise RuntimeUnavailable("the worker cannot be started", got=str(error)) from error
        self._in, self._out, self._err = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream
        )
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        for descriptor in (self._in, self._out):
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _CHUNK)
        self._reader = FrameReader(limits.answer_bytes)
        self._unsent: deque[memoryview] = deque()
        self._tail = bytearray()
        self._marked = 0
        self._tail_end = 0
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._memory_checked = time.monotonic()
        self.alive = True

    def send(self, header: dict[str, Any], blobs: tuple[bytes, ...] | list[bytes] = ()) -> None:
        """Put a frame behind those that are to be sent; `flush`, or waiting for an answer, sends them."""
        self._unsent.extend(memoryview(each) for each in encode_frame(header, blobs) if each)

    def send_raw(self, raw: bytes) -> None:
        """Put bytes that need be no frame behind what is to be sent."""
        if raw:
            self._unsent.append(memoryview(raw))

    def end_input(self) -> None:
        """Close the worker's standard input, once it has taken what was sent."""
        end = time.monotonic() + 1.0
        while self._unsent and time.monotonic() < end:
            self._write()
        if self._process.stdin:
            self._process.stdin.close()

    def flush(self) -> None:
        """Send as much as the worker takes at once."""
        if self._unsent:
            self._write()

    @property
    def printed(self) -> int:
        """How many bytes the worker has printed on standard error, as far as they were read."""
        return self._tail_end

    def mark(self, printed: int) -> None:
        """What the worker printed before that many bytes tells nothing about the case that it is at."""
        self._marked = printed

    def receive(self, number: int, seconds: float, deadline: float) -> Frame:
        """The answer to request `number`; `seconds` is the limit that led to `deadline` (monotonic time).

        Raises WorkerLost, WorkerHung or Stopped; after these the worker is dead.
        """
        self.flush()
        while True:
            try:
                frame = self._reader.take()
            except BrokenProtocol as error:
                raise self._killed(f"broke the protocol with {error}") from error
            if frame is not None:
                if time.monotonic() - self._memory_checked > _TICK:
                    self._check_memory()
                return self._checked(frame, number)
            now = time.monotonic()
            if now - self._memory_checked > _TICK:
                self._check_memory()
            if now >= deadline:
                stderr = self.kill()
                raise WorkerHung(seconds, stderr)
            self._wait(min(_TICK, deadline - now))

    def _checked(self, frame: Frame, number: int) -> Frame:
        found = frame.header.get("id")
        if found == number and type(found) is int:
            return frame
        if found is None and frame.header.get("type") == "error":
            raise self._killed(f"could not read a request: {frame.header.get('message')}")
        raise self._killed(f"broke the protocol with an answer to request {found!r}, not {number}")

    def _wait(self, seconds: float) -> None:
        """Move bytes in all directions for a while; raises WorkerLost where the worker has gone."""
        if self.stop:
            self.kill()
            raise Stopped
        events = self._poll.poll(max(seconds, 0.0) * 1000)
        ended = False
        for descriptor, _ in events:
            if descriptor == self._out:
                ended = not self._read_frames()
            elif descriptor == self._err:
                self._read_stderr()
            else:
                self._write()
        if not events and self._has_exited():
            # A child that holds the pipe open hides that its parent has died.
            self._read_frames()
            ended = True
        if ended and not self._holds_answer():
            raise self._died()

    def _holds_answer(self) -> bool:
        """Whether the last bytes of a worker that has gone hold a whole frame; they stay to be taken."""
        return self._reader.complete

    def _read_frames(self) -> bool:
        """Read what the worker has sent; False where its output has ended."""
        while True:
            try:
                data = os.read(self._out, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._reader.feed(data)
            if len(data) < _CHUNK:
                return True

    def _read_stderr(self) -> None:
        try:
            data = os.read(self._err, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._err)
            return
        self._tail_end += len(data)
        self._tail += data
        if len(self._tail) > 2 * _TAIL:
            del self._tail[:-_TAIL]

    def _write(self) -> None:
        while self._unsent:
            try:
                sent = os.writev(self._in, list(islice(self._unsent, _PIECES)))
            except BlockingIOError:
                self._poll.register(self._in, select.POLLOUT)
                return
            except OSError:
                # The worker has closed its end; reading will tell how it ended.
                self._unsent.clear()
                break
            while sent:
                piece = self._unsent.popleft()
                if len(piece) > sent:
                    self._unsent.appendleft(piece[sent:])
                sent -= min(sent, len(piece))
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._in)

    def _check_memory(self) -> None:
        self._memory_checked = time.monotonic()
        used = resident_bytes(self._process.pid)
        if used > self._limits.resident_bytes:
            limit = self._limits.resident_bytes
            raise self._killed(
                f"killed at {used >> 20} MiB of resident memory; the limit is {limit >> 20} MiB"
            )

    def _has_exited(self) -> bool:
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, flags) is not None

    def _died(self) -> WorkerLost:
        # Some die in steps: wait a moment for the status before the group is killed.
        end = time.monotonic() + 1
        while not self._has_exited() and time.monotonic() < end:
            time.sleep(0.005)
        exited = self._has_exited()
        stderr = self.kill()
        code = self._process.returncode
        if not exited:
            return WorkerLost("closed its output", stderr)
        if code < 0:
            known = {each.value: each.name for each in signal.Signals}
            name = known.get(-code, f"signal {-code}")
            return WorkerLost(f"killed by {name}", stderr, signal_name=name)
        return WorkerLost(f"exited with status {code}", stderr, status=code)

    def _killed(self, reason: str) -> WorkerLost:
        return WorkerLost(reason, self.kill())

    def kill(self) -> str:
        """Kill the worker and everything in its group; returns the last lines of its standard error."""
        if not self.alive:
            return self._last_lines()
        self.alive = False
        # The group's id is the worker's until it is waited for, so nobody else's processes are met.
        for child in descendants(self._process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for _ in range(_LAST_READS):
            self._read_stderr()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        self._unsent.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
        return self._last_lines()

    def close(self) -> None:
        """Ask the worker to go, give it a second, and kill what is left."""
        if self.alive:
            self.send({"type": "shutdown", "id": -1})
            with contextlib.suppress(WorkerLost, WorkerHung, Stopped):
                self.receive(-1, 1.0, time.monotonic() + 1.0)
        self.kill()

    def _last_lines(self) -> str:
        recent = bytes(self._tail[-min(len(self._tail), self._tail_end - self._marked) :])
        if self._tail_end == self._marked:
            return ""
        lines = recent[-4 * _KEPT_CHARACTERS :].decode("utf-8", "replace").splitlines()[-_KEPT_LINES:]
        return "\n".join(lines)[-_KEPT_CHARACTERS:]
