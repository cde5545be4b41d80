"""What it costs to start a worker confined: a bare process beside it, until both have answered `hello`.

    uv run python -m benchmarks.confinement [--pairs 20]

Printed: milliseconds until the answer, minimum and median of each, and the median difference pair by pair.
The worker is a fake that needs no numpy, so that little else is measured.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerProcess
from conformance.workers.wire_frames import read_frame, write_frame
from tests.conformance.samples import FAKES

COMMAND = (sys.executable, str(FAKES / "rogue_worker.py"))
HELLO = {"type": "hello", "id": 0, "protocol": 1, "options": {}}


def start_bare() -> float:
    """Milliseconds until a process that was started as it is has answered."""
    begin = time.perf_counter()
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        write_frame(process.stdin, HELLO)  # type: ignore[arg-type] # a pipe's stream writes bytes
        assert read_frame(process.stdout) is not None  # type: ignore[arg-type] # and reads them
        seconds = time.perf_counter() - begin
        process.kill()
    return 1000 * seconds


def start_confined() -> float:
    """Milliseconds until a confined worker has answered."""
    begin = time.perf_counter()
    worker = WorkerProcess(Launch(COMMAND), Limits())
    worker.send(HELLO)
    worker.receive(0, 60.0, time.monotonic() + 60.0)
    seconds = time.perf_counter() - begin
    worker.kill()
    return 1000 * seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    pairs = [(start_bare(), start_confined()) for _ in range(parser.parse_args().pairs)]
    for name, times in zip(("bare", "confined"), zip(*pairs, strict=True), strict=True):
        print(f"{name:9s} {min(times):6.1f} ms at least, {statistics.median(times):6.1f} ms as a rule")
    print(f"more      {statistics.median(after - before for before, after in pairs):6.1f} ms as a rule")


if __name__ == "__main__":
    main()
