"""A record of what a device computed elsewhere: its outputs, given as files, judged as those of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from conformance.judging.responses import HarnessFailed, Response
from conformance.processes.worker_limits import CONFINED
from conformance.processes.worker_process import Launch
from conformance.recording.records import Record
from conformance.running.collector import Collector
from conformance.running.harness import few_collections, make_header
from conformance.running.progress import Progress, Silent
from conformance.running.resuming import RecordPlace
from conformance.running.returned_files import FORM, Device, ReturnedFiles
from conformance.running.run_options import RunRequest, Task
from conformance.runtimes.runtimes import Installed

NO_OUTPUTS = "no_outputs"
"""Why a record of a device is not whole."""
_LACKING = dict.fromkeys(CONFINED, "its outputs came as files")


def judge_files(
    request: RunRequest,
    files: ReturnedFiles,
    device: Device,
    place: RecordPlace,
    progress: Progress | None = None,
) -> Record:
    """Judge the selected cases by a device's files and write the record; returns it as it was written.

    A case of which nothing came back is not run, and the footer says so in `stopped` (`no_outputs`). Raises
    NothingRan where nothing is selected, UserError where the record cannot be written.
    """
    progress = progress or Silent()
    selected, offer = request.selected(), device.offer()
    request = replace(request, options=replace(request.options, forms=FORM))
    header = make_header(
        request.suite.digest, request.runtime, Installed(Launch(())), _LACKING, offer, request.options, [FORM]
    )
    beginning = place.begin(request.plan(selected, [FORM]), header, progress)
    writer = beginning.open(header)
    try:
        collector = Collector(request.suite, writer, progress, request.options, 0)
        collector.begin((), beginning.plan)
        with few_collections():
            missing = 0
            for task in beginning.plan.tasks():
                response = offer.refusal(task.case) or files.response(task.case_id)
                if response is None:
                    missing += 1
                else:
                    collector.take(task, response)
            collector.settle(partial(_answers, files))
        if missing:
            collector.halt.set(NO_OUTPUTS, f"nothing came back of {missing} of {len(selected)} cases")
        return collector.finish(beginning.plan.tasks(), ())
    finally:
        writer.close()
        progress.finish()


def _answers(files: ReturnedFiles, tasks: Iterable[Task]) -> Iterator[tuple[Task, Response]]:
    """Valid cases that others were made from; one of which nothing came back was not answered."""
    for task in tasks:
        yield task, files.response(task.case_id) or HarnessFailed("nothing came back of it")
