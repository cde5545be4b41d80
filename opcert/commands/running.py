"""What the commands that run a suite share: the runtime that was named, and the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from conformance.harness import run_suite
from conformance.records import Record
from conformance.run_options import RunOptions
from conformance.runtimes import Runtime, find_runtime, upgraded
from conformance.suites import Suite
from opcert.commands.run_progress import choose_progress

REPORTS = (
    "index.html",
    "junit.xml",
    "certificate.json",
    "certificate-badge.json",
    "certificate.html",
    "explanations.json",
)
"""The files that `certify` writes beside the record."""


def choose_runtime(text: str, python: str | None, upgrade: bool) -> Runtime:
    """The runtime of a name; raises UserError where there is none, or where there is nothing to upgrade."""
    found = find_runtime(text, python)
    return upgraded(found) if upgrade else found


def record_run(
    suite: Suite,
    runtime: Runtime,
    path: Path,
    options: RunOptions,
    stale: Sequence[Path] = (),
    *,
    resume: bool = False,
) -> Record:
    """Run the suite as `run_suite` does, with progress on standard error.

    `stale` are files that speak of an earlier record at `path`: they go when that is written anew, however
    the run ends. When it is interrupted workers are killed, and what was recorded stays readable.
    """
    before = _identity(path)
    try:
        return run_suite(suite, runtime, path, options, choose_progress(), resume=resume)
    except KeyboardInterrupt:
        if _identity(path) != before:
            told = (
                f"opcert: the cases that ran are recorded in {path}; `opcert run --resume` goes on from there"
            )
            click.echo(told, err=True)
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
