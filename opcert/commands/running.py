"""What the commands that run a suite share: the run itself, with its progress and its traces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.recording.records import Record
from conformance.running.first_worker import FirstWorker
from conformance.running.harness import run_request
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunRequest
from opcert.commands.command_progress import choose_progress
from opcert.commands.derived_files import remove_derived
from opcert.commands.output_locks import RECORD
from opcert.commands.terminal import note

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster


def record_run(
    request: RunRequest,
    place: RecordPlace,
    *,
    ours: bool,
    first: FirstWorker | None = None,
    cluster: Cluster | None = None,
    python: str | None = None,
) -> Record:
    """Do what is asked as `run_request` does, or `run_suite_on` where a cluster is given, with progress.

    Before the record is begun, what was made from an earlier one at its place goes (`remove_derived`, which
    knows what `ours` means). When the run is interrupted workers are killed, and what was recorded stays
    readable.
    """
    path = place.path

    def forget() -> None:
        # Beside a record of another name lies what was made from other records.
        if path.name == RECORD:
            remove_derived(path.parent, ours=ours)

    place = replace(place, replacing=forget)
    before = _identity(path)
    try:
        if cluster is not None:
            from conformance.clusters.cluster_run import run_suite_on

            return run_suite_on(cluster, request, place, choose_progress(), python)
        return run_request(request, place, choose_progress(), first)
    except KeyboardInterrupt:
        if _identity(path) != before:
            note(f"the cases that ran are recorded in {path}; `opcert run --resume` goes on from there")
        raise


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
