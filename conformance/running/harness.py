"""The harness: runs the cases of a suite on a runtime that may crash, and records what happened."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from conformance.processes.hidden_files import files_with_answers
from conformance.processes.loaded_files import by_name, digests_by_path
from conformance.processes.worker_process import Stopped
from conformance.recording.records import Record, RecordWriter
from conformance.recording.row_places import Order
from conformance.recording.rows import Result
from conformance.running.collector import Collector
from conformance.running.first_worker import FirstWorker
from conformance.running.further_tries import FurtherTries
from conformance.running.garbage import few_collections
from conformance.running.kept_answers import kept_run
from conformance.running.lane import Lane
from conformance.running.longest_first import LongestFirst, earlier_times
from conformance.running.progress import Progress, Silent
from conformance.running.record_header import make_header
from conformance.running.resuming import find_begun, go_on, is_through, kept_rows
from conformance.running.run_options import RunOptions
from conformance.running.taken_forms import take_forms
from conformance.running.task_source import Plan, TaskSource
from conformance.running.written_records import WrittenRecords
from conformance.runtimes.runtimes import Runtime, install
from conformance.suite.case_selection import nothing_selected
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import NothingRan, Place, RuntimeUnavailable

_PATIENCE = 10.0
"""Seconds that the lanes of an interrupted run have for letting their workers go."""


def run_suite(
    suite: Suite,
    runtime: Runtime,
    record_path: Path,
    options: RunOptions | None = None,
    progress: Progress | None = None,
    *,
    only: Container[str] | None = None,
    own_forms: Mapping[str, Sequence[str]] | None = None,
    resume: bool = False,
    first: FirstWorker | None = None,
    replacing: Callable[[], None] = lambda: None,
    keep: bool = False,
    written: WrittenRecords | None = None,
) -> Record:
    """Run the selected cases on a runtime and write the record; returns it as it was written.

    With `only` no case runs that is not in it; a case that `own_forms` has runs in these of the forms alone.
    With `resume` the cases that a record at the same place holds already are not run again; UserError where
    that is the record of another run. `first` is a worker of this runtime that is starting already.
    `replacing` is called before anything changes of a record that is there. With `keep` requests and rows are
    kept in the user's cache (`kept_answers.py`), and those that are there are taken: the record is the same.
    With `written` nothing is run where the record that is there stands for this run.

    The record's footer says in `stopped` why a run ended early: `kind` is `runtime_dies` or `max_failures`;
    the cases that were left are `not_run`. Raises NothingRan where nothing is selected, RuntimeUnavailable
    where the runtime cannot be installed or started (then no record is written), UserError where the record
    cannot be written or a form is not taken. KeyboardInterrupt leaves a partial record.
    """
    options, progress = options or RunOptions(), progress or Silent()
    selected = selected_cases(suite, options, only)
    count = options.lanes(len(selected))
    hidden = (*options.limits.hidden, *files_with_answers(suite.path, record_path))
    options = replace(options, jobs=count, limits=replace(options.limits, hidden=hidden))
    installed = install(runtime, progress.note) if first is None else first.installed
    lanes = [
        Lane(
            installed.launch, runtime.adapter, options.limits, first.take() if first and not number else None
        )
        for number in range(count)
    ]
    try:
        for lane in lanes:
            lane.begin()
        offer = lanes[0].start()
        forms = take_forms(options.forms, lanes[0], offer, runtime.adapter)
        header = make_header(suite.digest, runtime, installed, lanes[0], offer, options, forms)
        standing = None if written is None else written.find(record_path, header)
        if standing is not None:
            progress.note(
                f"the same build was asked these cases here, {standing.header['started']}: --again asks anew"
            )
            return _letting_go(lanes, standing)
        plan = Plan(suite, selected, forms, options.repeat, sampled=header["options"]["sampled"])
        if keep:
            plan = replace(plan, kept=kept_run(suite.digest, runtime.text, offer.facts))
        if own_forms is not None:
            plan = replace(plan, own_forms=own_forms)
            header["options"]["own_forms"] = True
        kept: Callable[[], Iterable[tuple[Result, Order]]] | None = None
        earlier = find_begun(record_path, header, progress) if resume else None
        if earlier is not None:
            if is_through(earlier):
                progress.note("the record is whole already: nothing is left to run")
                return _letting_go(lanes, earlier)
            plan = go_on(earlier, plan, header, progress)
            kept = partial(kept_rows, earlier, plan)
        tasks = TaskSource(plan)
        if len(lanes) > 1:
            tasks = LongestFirst(plan, earlier_times(record_path, suite.digest, runtime.text))
        replacing()
        writer = RecordWriter(record_path, header, None if kept is None else kept())
        try:
            collector = Collector(suite, writer, progress, options, len(offer.threads), kept=plan.kept)
            for result, order in () if kept is None else kept():
                collector.keep(result, order, plan.rows_of(result.case))
            progress.start(plan.rows - plan.rows_done)
            for lane in lanes:
                lane.kept = plan.kept
            with few_collections():
                _run_lanes(lanes, tasks, collector)
            losses = [each for lane in lanes for each in lane.unload_losses]
            loaded = None
            if options.identify:
                loaded = digests_by_path(set().union(*(lane.loaded_files() for lane in lanes)))
            named = None if loaded is None else by_name(loaded.values())
            record = collector.finish(plan.tasks(), losses, named)
            if written is not None:
                written.keep(record, header, loaded or {})
            if plan.kept is not None:
                plan.kept.close(whole=True)
        finally:
            writer.close()
            if plan.kept is not None:
                plan.kept.close(whole=False)
            progress.finish()
    except BaseException:
        for lane in lanes:
            lane.kill()
        raise
    return _letting_go(lanes, record)


def _letting_go(lanes: Sequence[Lane], record: Record) -> Record:
    """The record, when the workers are no longer needed."""
    for lane in lanes:
        lane.close()
    return record


def selected_cases(suite: Suite, options: RunOptions, only: Container[str] | None = None) -> Sequence[str]:
    """The cases that a run is of, in suite order; NothingRan where there are none."""
    selected = suite.select(options.pattern)
    if not selected:
        raise nothing_selected(options.pattern, suite.case_ids, str(suite.path))
    if options.shard is not None:
        selected = tuple(filter(options.shard.holds, selected))
    if only is not None:
        selected = tuple(each for each in selected if each in only)
    if not selected:
        told = "no case is left to run: what is selected lies in other parts"
        raise NothingRan(told, where=Place(str(suite.path)))
    return selected


def _run_lanes(lanes: list[Lane], tasks: TaskSource, collector: Collector) -> None:
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
            tasks.measured(task, getattr(response, "seconds", 0.0))
            collector.take(task, response, further.of(lane, task, response))
            if lane.deaths >= collector.options.max_deaths and not _survives(lane, collector):
                reason = f"{lane.deaths} workers were lost in a row, and none answered a case in between"
                collector.halt.set("runtime_dies", reason)
            if collector.halt.reason is not None:
                return
        collector.settle(lane)
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
