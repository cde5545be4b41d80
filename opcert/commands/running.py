"""What the commands that run a suite share: the run itself, with its progress and its traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.recording.records import Record
from conformance.running.first_worker import FirstWorker
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import Runtime
from conformance.suite.suites import Suite
from opcert.commands.derived_files import remove_derived
from opcert.commands.output_locks import RECORD
from opcert.commands.run_progress import choose_progress
from opcert.commands.terminal import say

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.running.written_records import WrittenRecords


def record_run(
    suite: Suite,
    runtime: Runtime,
    path: Path,
    options: RunOptions,
    *,
    ours: bool,
    resume: bool = False,
    first: FirstWorker | None = None,
    own_forms: Mapping[str, Sequence[str]] | None = None,
    cluster: Cluster | None = None,
    python: str | None = None,
    written: WrittenRecords | None = None,
) -> Record:
    """Run the suite as `run_suite` does, or `run_suite_on` where a cluster is given, with progress.

    Before the record is begun, what was made from an earlier one at `path` goes (`remove_derived`, which
    knows what `ours` means). When the run is interrupted workers are killed, and what was recorded stays
    readable.
    """

    def forget() -> None:
        # Beside a record of another name lies what was made from other records.
        if path.name == RECORD:
            remove_derived(path.parent, ours=ours)

    before = _identity(path)
    try:
        if cluster is not None:
            from conformance.clusters.cluster_run import run_suite_on

            return run_suite_on(
                cluster,
                suite,
                runtime,
                path,
                options,
                choose_progress(),
                python=python,
                own_forms=own_forms,
                resume=resume,
                replacing=forget,
            )
        return run_suite(
            suite,
            runtime,
            path,
            options,
            choose_progress(),
            own_forms=own_forms,
            resume=resume,
            first=first,
            replacing=forget,
            keep=True,
            written=written,
        )
    except KeyboardInterrupt:
        if _identity(path) != before:
            told = (
                f"opcert: the cases that ran are recorded in {path}; `opcert run --resume` goes on from there"
            )
            say(told, error=True)
        raise


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
