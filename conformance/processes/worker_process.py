"""One worker: a process that may die, hang, print or eat memory, and is killed with all its children.

What it runs code from is told by the files that it has loaded, whatever its environment says was installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from conformance.processes.confinement import (
    is_surrounding,
    make_folder,
    read_report,
    start_confined,
    worker_environment,
)
from conformance.processes.descendants import MemoryWatch, descendants, kill_all, kill_left_behind
from conformance.processes.frames import (
    LONGEST_MESSAGE,
    BrokenProtocol,
    Frame,
    cut,
    encode_frame,
    encode_numbered,
)
from conformance.processes.worker_limits import CONFINED, Limits
from conformance.processes.worker_streams import WorkerStreams
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.regular_files import open_regular

LARGEST = 8 << 30


def loaded_files_of(process: int) -> set[Path]:
    """The files whose code a process or one of its descendants has in memory; none where nobody tells."""
    found: set[Path] = set()
    for descendant in (process, *descendants(process)):
        if is_surrounding(descendant):
            continue
        try:
            maps = Path(f"/proc/{descendant}/maps").read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        for line in maps.splitlines():
            parts = line.split(maxsplit=5)
            if len(parts) == 6 and "x" in parts[1] and parts[5].startswith("/"):
                found.add(Path(parts[5]))
    return found


def by_name(digests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Digests in the order in which a record has them."""
    return sorted(digests, key=lambda digest: (str(digest["file"]), str(digest["sha256"])))


def digests_by_path(files: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """For each file that is still there: `file`, `bytes` and `sha256`.

    A file of an installed package is named from its `site-packages` on, any other one without its folder: two
    machines name the same file alike, and no name tells where somebody works.
    """
    found = {}
    for file in files:
        try:
            with open_regular(file, LARGEST) as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
                size = opened.seek(0, 2)
        except OSError:
            continue  # a file that was removed after it was loaded
        found[file] = {"file": _public_name(file), "bytes": size, "sha256": digest}
    return found


def merge_digests(parts: Iterable[Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The files of several records, each once; one that differs between them stands there as often."""
    every = {(each["file"], each["sha256"]): each for part in parts for each in part}
    return [every[key] for key in sorted(every)]


def _public_name(path: Path) -> str:
    parts = path.parts
    if "site-packages" in parts:
        return "/".join(parts[len(parts) - parts[::-1].index("site-packages") :])
    return path.name


_WAIT = "wait"
_LONGEST_WAIT = 600.0
"""Seconds that a worker may wait in all before it answers one request."""
_DAY = 86400
_TICK = 0.05
_ENDED = re.compile(r"^opcert: the worker ended with (\d{1,3})$", re.MULTILINE)
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""


@dataclass(frozen=True)
class Launch:
    """How a worker is started: its command, the options of its `hello`, and variables that it needs.

    Where it runs on another `machine`, the command connects to that one, and says there how the worker ended:
    `opcert: the worker ended with STATUS`, as the last line of standard error.
    """

    command: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""


class WorkerLost(Exception):
    """The worker is gone: it died, broke the protocol, or was killed for exceeding a limit.

    `earlier` says that what it did belongs to a request that was answered before, `by_limit` that it was
    killed for the memory that it took, `out_of_reach` that the connection to its machine ended: nobody knows
    what has become of it.
    """

    def __init__(
        self,
        reason: str,
        stderr: str,
        signal_name: str | None = None,
        status: int | None = None,
        *,
        earlier: bool = False,
        by_limit: bool = False,
        out_of_reach: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = cut(reason, LONGEST_MESSAGE)
        self.stderr = stderr
        self.signal_name = signal_name
        self.status = status
        self.earlier = earlier
        self.by_limit = by_limit
        self.out_of_reach = out_of_reach


class WorkerHung(Exception):
    """The worker did not answer in time, and was killed."""

    def __init__(self, limit: float, stderr: str) -> None:
        super().__init__(f"no answer within {limit:g} s")
        self.limit = limit
        self.stderr = stderr


class Stopped(Exception):
    """Somebody asked for the end of the whole run while a worker was waited for."""


class WorkerProcess:
    """A running worker. `stop` may be set by another thread's question; it is looked at while waiting.

    `settled` counts bytes on standard error that were there before the answer that was waited for last: no
    later request has caused them, however many the worker has before it.

    Raises RuntimeUnavailable where the command cannot be started at all.
    """

    def __init__(self, launch: Launch, limits: Limits) -> None:
        self.stop = False
        self.settled = 0
        self._limits = limits
        self._machine = launch.machine
        self._folder = make_folder()
        environment = worker_environment(self._folder.path, launch.command[0], launch.environment)
        try:
            self._process, self._report = start_confined(
                launch.command,
                self._folder.path,
                environment,
                network=limits.network or bool(launch.machine),
                hidden=limits.hidden,
            )
        except (OSError, ValueError) as error:
            self._folder.remove()
            raise RuntimeUnavailable("the worker cannot be started", got=str(error)) from error
        self._streams = WorkerStreams(self._process, limits.answer_bytes)
        self._memory = MemoryWatch(self._process.pid, limits.resident_bytes)
        # Who kills it while another thread does waits for that, and does what an interrupt left undone.
        self._ending = threading.RLock()
        self._left_to_do: list[Callable[[], None]] = [
            self._kill_process,
            self._streams.close,
            partial(os.close, self._report),
            self._folder.remove,
        ]
        self.alive = True

    def send(self, header: dict[str, Any], blobs: tuple[bytes, ...] | list[bytes] = ()) -> None:
        """Put a frame behind those that are to be sent; `flush`, or waiting for an answer, sends them."""
        self._streams.writer.put(*encode_frame(header, blobs))

    def send_numbered(self, head: bytes, number: int, model: int, blobs: Sequence[bytes] = ()) -> None:
        """The same of a frame whose head is made already."""
        self._streams.writer.put(*encode_numbered(head, number, model, blobs))

    def send_raw(self, raw: bytes) -> None:
        """Put bytes that need be no frame behind what is to be sent."""
        self._streams.writer.put(raw)

    def end_input(self) -> None:
        """Close the worker's standard input, once it has taken what was sent."""
        self._streams.end_input()

    def flush(self) -> None:
        """Send as much as the worker takes at once."""
        self._streams.flush()

    def read_isolation(self) -> dict[str, str]:
        """What the worker could not be kept from, each with the reason."""
        if self._machine:
            return dict.fromkeys(CONFINED, f"it runs on another machine, {self._machine}")
        return read_report(self._report)

    def loaded_files(self) -> set[Path]:
        """The files that the worker runs code from at this moment; none of one on another machine."""
        return set() if self._machine else loaded_files_of(self._process.pid)

    @property
    def unsent(self) -> int:
        """How many pieces of requests wait to be sent."""
        return len(self._streams.writer)

    @property
    def printed(self) -> int:
        """How many bytes the worker has printed on standard error, as far as they were read."""
        return self._streams.tail.printed

    def mark(self, printed: int) -> None:
        """What the worker printed before that many bytes tells nothing about the case that it is at."""
        self._streams.tail.marked = printed

    def receive(self, number: int, seconds: float, deadline: float, nap: float = 0.0) -> Frame:
        """The answer to request `number`; `seconds` is the limit that led to `deadline` (monotonic time).

        Where it is not there yet, nobody looks for it before `nap` seconds are over: to be woken by each of
        many answers costs both sides more than the answers. A worker that waits, maybe for a device to cool,
        has the seconds that it names, 600 in all, and its limit anew.
        Raises WorkerLost, WorkerHung or Stopped; after these the worker is dead.
        """
        patience = _LONGEST_WAIT
        while True:
            try:
                frame = self._streams.reader.take()
            except BrokenProtocol as error:
                raise self._killed(f"broke the protocol with {error}") from error
            self._check_memory()
            now = time.monotonic()
            if frame is not None and frame.header.get("type") == _WAIT:
                pause = min(self._pause(self._checked(frame, number)), patience)
                patience -= pause
                deadline = max(deadline, now + pause + seconds)
                continue
            if frame is not None:
                return self._checked(frame, number)
            if now >= deadline:
                stderr = self.kill()
                raise WorkerHung(seconds, stderr)
            printed = self.printed
            self.flush()
            if nap:
                time.sleep(min(nap, _TICK, deadline - now))
                nap = 0.0
            self._wait(min(_TICK, deadline - now))
            if not self._streams.reader.complete:
                self.settled = printed

    def _checked(self, frame: Frame, number: int) -> Frame:
        found = frame.header.get("id")
        if found == number and type(found) is int:
            return frame
        if found is None and frame.header.get("type") == "error":
            raise self._killed(f"could not read a request: {frame.header.get('message')}")
        if type(found) is int and 0 <= found < number:
            reason = f"broke the protocol with a second answer to request {found}"
            raise self._killed(reason, earlier=True)
        raise self._killed(f"broke the protocol with an answer to request {found!r}, not {number}")

    def _pause(self, frame: Frame) -> float:
        """The seconds for which a worker says that it waits."""
        seconds = frame.header.get("seconds")
        if isinstance(seconds, int | float) and 0 <= seconds <= _DAY:
            return float(seconds)
        raise self._killed(f"broke the protocol with a wait of {seconds!r} seconds")

    def _wait(self, seconds: float) -> None:
        """Move bytes in all directions for a while; raises WorkerLost where the worker has gone."""
        if self.stop:
            self.kill()
            raise Stopped
        if not self._streams.move(seconds) and self._has_exited():
            # A child that holds the pipe open hides that its parent has died.
            self._streams.drain()
        if self._streams.ended and not self._streams.reader.complete:
            raise self._died()

    def _check_memory(self) -> None:
        used = self._memory.look()
        if used is not None:
            limit = self._limits.resident_bytes
            raise self._killed(
                f"killed at {used >> 20} MiB of resident memory; the limit is {limit >> 20} MiB",
                by_limit=True,
            )

    def _has_exited(self) -> bool:
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:  # the caller told the system to wait for its children
            return True

    def _died(self) -> WorkerLost:
        # Some die in steps: wait a moment for the status before the group is killed.
        end = time.monotonic() + 1
        while not self._has_exited() and time.monotonic() < end:
            time.sleep(0.005)
        exited = self._has_exited()
        stderr = self.kill()
        code = self._process.returncode
        if self._machine:
            ended = _ENDED.search(stderr)
            if ended is None:
                return WorkerLost(f"the connection to {self._machine} ended", stderr, out_of_reach=True)
            exited, stderr = True, stderr[: ended.start()]
            code = int(ended[1]) if int(ended[1]) <= _SIGNALLED else _SIGNALLED - int(ended[1])
        if not exited:
            return WorkerLost("closed its output", stderr)
        if code < 0:
            known = {number.value: number.name for number in signal.Signals}
            name = known.get(-code, f"signal {-code}")
            return WorkerLost(f"killed by {name}", stderr, signal_name=name)
        return WorkerLost(f"exited with status {code}", stderr, status=code)

    def _killed(self, reason: str, *, earlier: bool = False, by_limit: bool = False) -> WorkerLost:
        return WorkerLost(reason, self.kill(), earlier=earlier, by_limit=by_limit)

    def kill(self) -> str:
        """Kill the worker and everything that it started; returns the last lines of its standard error."""
        with self._ending:
            self.alive = False
            while self._left_to_do:
                self._left_to_do.pop(0)()
        return self._streams.tail.last_lines()

    def _kill_process(self) -> None:
        kill_all(self._process.pid)
        self._process.wait()
        kill_left_behind(self._folder.path.name)

    def close(self) -> None:
        """Ask the worker to go, give it a second, and kill what is left."""
        if self.alive:
            self.send({"type": "shutdown", "id": -1})
            with suppress(WorkerLost, WorkerHung, Stopped):
                self.receive(-1, 1.0, time.monotonic() + 1.0)
        self.kill()
