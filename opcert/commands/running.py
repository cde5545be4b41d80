"""What the commands that run a suite share: the run itself, with its progress and its traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.first_worker import FirstWorker
from conformance.harness import run_suite
from conformance.records import Record
from conformance.run_options import RunOptions
from conformance.runtimes import Runtime
from conformance.suites import Suite
from opcert.commands.run_progress import choose_progress
from opcert.commands.terminal import say

REPORTS = (
    "index.html",
    "junit.xml",
    "certificate.json",
    "certificate-badge.json",
    "certificate.html",
    "explanations.json",
)
"""The files that `certify` writes beside the record."""


def record_run(
    suite: Suite,
    runtime: Runtime,
    path: Path,
    options: RunOptions,
    stale: Sequence[Path] = (),
    *,
    resume: bool = False,
    first: FirstWorker | None = None,
) -> Record:
    """Run the suite as `run_suite` does, with progress on standard error.

    `stale` are files that speak of an earlier record at `path`: they go when that is written anew, however
    the run ends. When it is interrupted workers are killed, and what was recorded stays readable.
    """
    before = _identity(path)
    try:
        return run_suite(suite, runtime, path, options, choose_progress(), resume=resume, first=first)
    except KeyboardInterrupt:
        if _identity(path) != before:
            told = (
                f"opcert: the cases that ran are recorded in {path}; `opcert run --resume` goes on from there"
            )
            say(told, error=True)
        raise
    finally:
        if _identity(path) != before:
            for each in stale:
                each.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
