"""A scheduler of Dask and its workers as processes of their own, as on a cluster, which may be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from conformance.processes.descendants import descendants

_QUIET = ("--no-dashboard",)


class Services:
    """Starts them with `scheduler` and `worker`; `stop` ends whatever is left of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.scheme = "tcp"
        self.environment: Mapping[str, str] = {}
        self.started: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def scheduler(self, more: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """A scheduler that answers at `address` when this returns."""
        words = ["--host", "127.0.0.1", "--port", str(self.port), *_QUIET, *more]
        process = self._start("dask_scheduler", words, {})
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return process
            time.sleep(0.05)
        raise AssertionError("the scheduler does not answer")

    def worker(
        self, environment: Mapping[str, str] | None = None, words: Sequence[str] = (), *, nanny: bool = True
    ) -> subprocess.Popen[bytes]:
        """A worker of one thread, with a nanny that starts it anew when it is lost."""
        folder = self.folder / f"worker-{len(self.started)}"
        told = [self.address, "--nthreads", "1", *_QUIET, "--local-directory", str(folder)]
        return self._start(
            "dask_worker",
            [*told, "--nanny" if nanny else "--no-nanny", "--death-timeout", "60", *words],
            environment or {},
        )

    def command(self, words: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """A command of `dask`, as it is written in a recipe."""
        assert words[0] == "dask"
        program = str(Path(sys.executable).with_name("dask"))
        return self._run(words[1], [program, *words[1:]], environment)

    def _start(
        self, command: str, words: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        module = [sys.executable, "-m", f"distributed.cli.{command}"]
        return self._run(command, [*module, *words], environment)

    def _run(
        self, name: str, words: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}-{len(self.started)}.log").open("wb") as log:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **self.environment, **environment},
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def stop(self) -> None:
        for process in self.started:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started here, and all that it has started."""
    own = descendants(process.pid)
    for each in (process.pid, *own):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    process.wait()


def worker_of(nanny: subprocess.Popen[bytes]) -> int | None:
    """The process that a nanny has started to be the worker; None where there is none at this moment."""
    for descendant in descendants(nanny.pid):
        with suppress(OSError):
            words = Path(f"/proc/{descendant}/cmdline").read_bytes()
            if b"spawn_main" in words or b"forkserver" in words:
                return descendant
    return None


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
