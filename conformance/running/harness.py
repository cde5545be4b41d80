"""The harness: runs the cases of a suite on a runtime that may crash, and records what happened."""

from __future__ import annotations

import gc
import os
import platform
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Crashed, Refused, Response, TimedOut
from conformance.models.case_models import Form
from conformance.processes.confinement import files_with_answers
from conformance.processes.worker_limits import describe_confinement
from conformance.processes.worker_process import Stopped, by_name, digests_by_path
from conformance.recording.records import Record, timestamp
from conformance.running.collector import Collector
from conformance.running.first_worker import FirstWorker
from conformance.running.lane import Lane
from conformance.running.progress import Progress, Silent
from conformance.running.requests import Offer
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import (
    SAMPLE,
    RunOptions,
    RunPlan,
    RunRequest,
    Task,
    TaskSource,
    choose_forms,
    told_options,
)
from conformance.runtimes.adapter import Adapter
from conformance.runtimes.processor import processor_here
from conformance.runtimes.runtimes import Installed, Runtime, install
from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.names import CaseId, OperatorName, operator_path_of
from opcert.vocabulary.tensors import tensor


def make_header(
    suite: str,
    runtime: Runtime,
    installed: Installed,
    lacking: Mapping[str, str],
    offer: Offer,
    options: RunOptions,
    forms: Sequence[str],
) -> dict[str, Any]:
    """What a record begins with: the suite by its digest, the runtime, this machine, and the options.

    `lacking` says what the runtime could not be kept from, with the reasons.
    """
    memory = None
    with suppress(ValueError, OSError, AttributeError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "suite": suite,
        "runtime": {
            "name": offer.name,
            "version": offer.version,
            "source": runtime.text,
            "options": dict(installed.launch.options),
            "environment": dict(installed.facts),
            "offer": offer.facts,
        },
        "platform": {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "processors": os.cpu_count(),
            "memory": memory,
            "python": platform.python_version(),
            "opcert": version("opcert"),
        },
        "processor": dict(processor_here()),
        "confinement": describe_confinement(options.limits, lacking),
        "options": told_options(options, forms),
        "started": timestamp(),
    }


_TRANSPOSES = (13, 1)
"""Versions of Transpose: a runtime that answers none of them rightly is not asked behind one."""


def take_forms(asked: str, lane: Lane, offer: Offer, adapter: Adapter) -> Sequence[Form]:
    """The forms to run in; raises UserError where one is asked for that the runtime does not take.

    A Backend class says nothing of what it takes. In a sample it is asked behind a Transpose where it answers
    that alone: a fault of its Transpose is none of every operator.
    """
    forms = choose_forms(asked, offer)
    if asked != SAMPLE or adapter.name != "backend" or "strided" not in forms:
        return forms
    if any(_answers(lane, _transpose(transpose)) for transpose in _TRANSPOSES):
        return forms
    return tuple(form for form in forms if form != "strided")


def _answers(lane: Lane, case: Case) -> bool:
    deaths = lane.deaths
    found = [response for _, response in lane.run([Task.of(case, "inputs")])]
    lane.deaths = deaths
    return all(judge(case, each).verdict == "pass" for each in found)


def _transpose(version: int) -> Case:
    """A call of a version of ONNX's Transpose, of two axes in reverse order."""
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    inputs = (("data", tensor(given)),)
    operator = OperatorName("ai.onnx", "Transpose", version)
    expected = ExpectedOutput("transposed", tensor(np.ascontiguousarray(given.transpose())))
    return Case(
        id=CaseId(operator, "cover", None, call_digest(operator, {}, inputs)),
        element_type=expected.expected.element_type,
        attributes={},
        inputs=inputs,
        output_names=("transposed",),
        demand="answer",
        expectations=(Expectation((expected,)),),
    )


_PATIENCE = 10.0
"""Seconds that the lanes of an interrupted run have for letting their workers go."""


def run_suite(
    suite: Suite,
    runtime: Runtime,
    record_path: Path,
    options: RunOptions | None = None,
    progress: Progress | None = None,
    *,
    resume: bool = False,
) -> Record:
    """Run the cases of a suite that the options select on a runtime, and write the record (`run_request`)."""
    request = RunRequest(suite, runtime, options or RunOptions())
    return run_request(request, RecordPlace(record_path, resume), progress)


def run_request(
    request: RunRequest,
    place: RecordPlace,
    progress: Progress | None = None,
    first: FirstWorker | None = None,
) -> Record:
    """Do what is asked and write the record; returns it as it was written.

    `first` is a worker of the runtime that is starting already.

    The record's footer says in `stopped` why a run ended early: `kind` is `runtime_dies` or `max_failures`;
    the cases that were left are `not_run`. Raises NothingRan where nothing is selected, RuntimeUnavailable
    where the runtime cannot be installed or started (then no record is written), UserError where the record
    cannot be written, is gone on with and of another run, or a form is not taken. KeyboardInterrupt leaves a
    partial record.
    """
    progress = progress or Silent()
    selected = request.selected()
    options, limits = request.options, request.options.limits
    hidden = (*limits.hidden, *files_with_answers(request.suite.path, place.path))
    jobs = options.lanes(len(selected))
    request = replace(request, options=replace(options, jobs=jobs, limits=replace(limits, hidden=hidden)))
    installed = install(request.runtime, progress.note) if first is None else first.installed
    begun = [None if first is None else first.take(), *[None] * (jobs - 1)]
    lanes = [
        Lane(installed.launch, request.runtime.adapter, request.options.limits, worker) for worker in begun
    ]
    try:
        record = _run_on(lanes, installed, request, selected, place, progress)
    except BaseException:
        for lane in lanes:
            lane.kill()
        raise
    for lane in lanes:
        lane.close()
    return record


def _run_on(
    lanes: Sequence[Lane],
    installed: Installed,
    request: RunRequest,
    selected: Sequence[str],
    place: RecordPlace,
    progress: Progress,
) -> Record:
    """Have lanes do what is asked; or nothing, where a record that is there stands for it."""
    suite, runtime, options = request.suite, request.runtime, request.options
    for lane in lanes:
        lane.begin()
    offer = lanes[0].start()
    forms = take_forms(options.forms, lanes[0], offer, runtime.adapter)
    header = make_header(suite.digest, runtime, installed, lanes[0].lacking, offer, options, forms)
    header["options"] |= request.told_forms()
    standing = place.standing(header, progress)
    if standing is not None:
        return standing
    beginning = place.begin(request.plan(selected, forms), header, progress)
    if beginning.earlier is not None and beginning.whole:
        return beginning.earlier
    plan = beginning.plan
    tasks = TaskSource(plan)
    writer = beginning.open(header)
    try:
        collector = Collector(suite, writer, progress, options, len(offer.threads))
        collector.begin(beginning.kept(), plan)
        with few_collections():
            _run_lanes(lanes, tasks, collector)
        return _finish(lanes, collector, plan, header, place)
    finally:
        writer.close()
        progress.finish()


def _finish(
    lanes: Sequence[Lane], collector: Collector, plan: RunPlan, header: dict[str, Any], place: RecordPlace
) -> Record:
    """Write the end of the record, and what the workers ran code from where that is asked for."""
    losses = [loss for lane in lanes for loss in lane.unload_losses]
    if cuts := sum(lane.cuts for lane in lanes):
        times = "once" if cuts == 1 else f"{cuts} times"
        collector.progress.note(f"the connection ended {times}: what was under way ran again")
    loaded: dict[Path, Any] = {}
    named = None
    if collector.options.identify:
        loaded = digests_by_path(set().union(*(lane.loaded_files() for lane in lanes)))
        named = by_name(loaded.values())
    record = collector.finish(plan.tasks(), losses, named)
    if place.written is not None:
        place.written.keep(record, header, loaded)
    return record


def _run_lanes(lanes: Sequence[Lane], tasks: TaskSource, collector: Collector) -> None:
    """Run one lane in this thread, or several each in its own; the first error of any ends all."""
    if len(lanes) == 1:
        run_lane(lanes[0], tasks, collector)
        return
    errors: list[BaseException] = []

    def work(lane: Lane) -> None:
        try:
            run_lane(lane, tasks, collector)
        except Stopped:
            return
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits, which raises it
            errors.append(error)
            collector.halt.set("error", "an error in another lane")

    threads = [threading.Thread(target=work, args=(lane,), daemon=True) for lane in lanes]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        collector.halt.set("error", "interrupted")
        for lane in lanes:
            lane.stop()
        for thread in threads:
            thread.join(timeout=_PATIENCE)
        raise
    if errors:
        raise errors[0]


def run_lane(lane: Lane, tasks: TaskSource, collector: Collector) -> None:
    """Run what a source has on one lane, until there is nothing left or the run is to end."""
    try:
        further = FurtherTries(lambda: collector.halt.reason is not None, collector.options.repeat > 1)
        going_on = takewhile(lambda _: collector.halt.reason is None, tasks.lane())
        for task, response in lane.run(going_on, collector.wants):
            tasks.measured(getattr(response, "seconds", 0.0))
            collector.take(task, response, further.of(lane, task, response))
            if lane.deaths >= collector.options.max_deaths and not _survives(lane, collector):
                reason = f"{lane.deaths} workers were lost in a row, and none answered a case in between"
                collector.halt.set("runtime_dies", reason)
            if collector.halt.reason is not None:
                return
        collector.settle(lane.run)
    except RuntimeUnavailable as error:
        if not collector.rows:
            raise
        collector.halt.set("runtime_dies", f"a new worker could not be started: {error}")


def _survives(lane: Lane, collector: Collector) -> bool:
    """Whether the runtime still answers a case that it answered before."""
    known = collector.answered_task
    if known is None:
        return False
    before = lane.deaths
    for _, response in lane.run([known]):
        collector.progress.note(f"{before} workers lost in a row; {type(response).__name__} to a known case")
    return lane.deaths == 0


TRIES = 3
"""So often a case that killed its worker is tried again."""
_MOST_CASES, _MOST_OF_OPERATOR = 24, 3
"""Of each lane so many cases are, and of an operator version: of many that die the first say enough."""
_KINDS = ((Answered, "answered"), (Refused, "refused"), (Crashed, "crashed"), (TimedOut, "timed out"))


class FurtherTries:
    """Tries cases of one lane again. What it learns are the responses, in words as rows have them.

    Where every case is `repeated` none is tried further. `ending` says whether the run is being ended, from
    outside as well: then workers are killed, not lost.
    """

    def __init__(self, ending: Callable[[], bool] = lambda: False, repeated: bool = False) -> None:
        self._ending = ending
        self._repeated = repeated
        self._cases: Counter[str] = Counter()

    def of(self, lane: Lane, task: Task, response: Response) -> tuple[str, ...]:
        """What further tries of a task came to; none of one that its worker survived, or that is repeated.

        Where no new worker starts there are fewer: whoever needs the next one will tell.
        """
        if not isinstance(response, Crashed) or self._repeated or self._ending():
            return ()
        operator = operator_path_of(task.case_id)
        if self._cases.total() >= _MOST_CASES or self._cases[operator] >= _MOST_OF_OPERATOR:
            return ()
        self._cases[operator] += 1
        deaths, found = lane.deaths, []
        with suppress(RuntimeUnavailable):
            for _ in range(TRIES):
                for _, again in lane.run([] if self._ending() else [task]):
                    found.append(next((word for kind, word in _KINDS if isinstance(again, kind)), "none"))
        # What the same case kills once more says nothing new of whether the runtime survives at all.
        lane.deaths = deaths if set(found) <= {"crashed", "timed out"} else 0
        return tuple(found)


_THRESHOLD = 50_000
"""So many objects may come to be before the youngest are looked through; it is 700 by default."""


@contextmanager
def few_collections() -> Iterator[None]:
    """Search seldom, and not through what is there already, for as long as the context lasts."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
