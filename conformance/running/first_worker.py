"""The first worker of a run, started while everything else is still made ready.

A runtime takes its time to be imported, and so do numpy, onnx and a suite; nothing here needs either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from conformance.processes.frames import hello
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerProcess
from conformance.runtimes.runtimes import Installed, Runtime, find_installed
from opcert.vocabulary.errors import RuntimeUnavailable


@dataclass(eq=False)
class FirstWorker:
    """A worker that was told to start and has not been asked whether it did, until somebody takes it."""

    installed: Installed
    limits: Limits
    process: WorkerProcess | None

    def take(self) -> WorkerProcess | None:
        """The worker, which is the caller's from now on; None where it was taken before."""
        process, self.process = self.process, None
        return process


def begin_worker(launch: Launch, limits: Limits) -> WorkerProcess:
    """A new worker that has its `hello` request; RuntimeUnavailable where there is nothing to start."""
    process = WorkerProcess(launch, limits)
    process.send({**hello(launch.options), "id": 0})
    process.flush()
    return process


@contextmanager
def first_worker(runtime: Runtime, limits: Limits) -> Iterator[FirstWorker | None]:
    """Start a worker of a runtime whose environment is there already; who does not take it sees it killed.

    None where there is no environment yet, or no worker: whoever needs one then finds out why.
    """
    installed = find_installed(runtime)
    if installed is None:
        yield None
        return
    try:
        process = begin_worker(installed.launch, limits)
    except RuntimeUnavailable:
        yield None
        return
    begun = FirstWorker(installed, limits, process)
    try:
        yield begun
    finally:
        left = begun.take()
        if left is not None:
            left.kill()
