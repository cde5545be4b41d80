"""What a worker of a cluster does of a run: it starts the runtime, and runs units of cases on it.

A runtime stands ready from one unit to the next: to start one takes as long as hundreds of cases do. Who is
not asked for a while is let go, in case that nobody comes to say that the run is through.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.clusters.run_units import RunOrder, RunUnit, ToldRuntime, UnitAnswer, deflated
from conformance.clusters.worker_answers import machine_here, on_worker
from conformance.doctor.patient import find_newest_opset
from conformance.models.case_models import Form
from conformance.processes.scratch_folders import scratch_folder
from conformance.processes.worker_process import digests_by_path
from conformance.recording.outputs import outputs_folder
from conformance.recording.records import RecordWriter
from conformance.running.collector import Collector
from conformance.running.harness import make_header, run_lane, take_forms
from conformance.running.lane import Lane
from conformance.running.progress import Silent
from conformance.running.requests import Offer
from conformance.running.run_options import RunPlan, TaskSource
from conformance.runtimes.runtimes import install

IDLE = 60.0
"""Seconds that a runtime is kept which nobody asks."""


@dataclass(eq=False)
class Standing:
    """A runtime that has started: its lane, its offer, and what a record's header says of it."""

    order: RunOrder
    lane: Lane
    offer: Offer
    header: Mapping[str, Any]
    forms: tuple[Form, ...]
    losses: int = 0
    _digested: dict[Any, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What must be the same on every machine of a run."""
        runtime = self.header["runtime"]
        facts = {key: runtime[key] for key in ("name", "version")}
        return {**facts, "packages": dict(runtime["environment"].get("packages", {}))}

    def take_losses(self) -> list[str]:
        """The workers lost between two cases since somebody asked."""
        found = self.lane.unload_losses[self.losses :]
        self.losses = len(self.lane.unload_losses)
        return list(found)

    def loaded(self) -> list[Mapping[str, Any]]:
        """The files that the runtime runs code from, each read once."""
        for path in self.lane.loaded_files():
            if path not in self._digested:
                self._digested[path] = digests_by_path([path]).get(path, {})
        return [each for each in self._digested.values() if each]


_LOCK = threading.Lock()
_READY: dict[str, list[Standing]] = {}
_TIMERS: dict[int, threading.Timer] = {}


def take_standing(order: RunOrder) -> Standing:
    """A runtime that is ready for a run, or a new one; raises as `install` and `Lane.start` do."""
    with _LOCK:
        ready = _READY.get(order.key)
        if ready:
            found = ready.pop()
            _TIMERS.pop(id(found)).cancel()
            return found
    runtime = order.runtime.find()
    installed = install(runtime, lambda _: None)
    lane = Lane(installed.launch, runtime.adapter, order.options.limits)
    try:
        offer = lane.start()
        forms = tuple(take_forms(order.options.forms, lane, offer, runtime.adapter))
        header = make_header(order.suite, runtime, installed, lane.lacking, offer, order.options, forms)
    except BaseException:
        lane.kill()
        raise
    return Standing(order, lane, offer, header, forms)


def give_back(standing: Standing) -> None:
    """Keep a runtime for the next unit of its run, for a while."""
    timer = threading.Timer(IDLE, _let_go, (standing,))
    timer.daemon = True
    with _LOCK:
        _READY.setdefault(standing.order.key, []).append(standing)
        _TIMERS[id(standing)] = timer
    timer.start()


def let_all_go(key: str) -> None:
    """End every runtime that stands ready for a run."""
    with _LOCK:
        ready = _READY.pop(key, [])
        for standing in ready:
            _TIMERS.pop(id(standing)).cancel()
    for standing in ready:
        standing.lane.close()


def _let_go(standing: Standing) -> None:
    with _LOCK:
        ready = _READY.get(standing.order.key, [])
        if standing not in ready:
            return
        ready.remove(standing)
        if not ready:
            del _READY[standing.order.key]
        _TIMERS.pop(id(standing), None)
    standing.lane.close()


@dataclass(frozen=True)
class Begun:
    """What a run's record begins with: its header, the forms that cases go in, and how many thread counts
    take turns."""

    machine: dict[str, Any]
    runtime: dict[str, Any]
    header: dict[str, Any]
    forms: tuple[Form, ...]
    threads: int


@on_worker
def begin_run(order: RunOrder) -> Begun:
    """Start the runtime and say what it is; raises as `install` and `Lane.start` do."""
    standing = take_standing(order)
    give_back(standing)
    return Begun(
        dict(machine_here()),
        dict(standing.identity),
        dict(standing.header),
        standing.forms,
        len(standing.offer.threads),
    )


@on_worker
def run_unit(order: RunOrder, unit: RunUnit) -> UnitAnswer:
    """Run the cases of a unit as `opcert run` runs them; raises as `begin_run` and `run_suite` do."""
    standing = take_standing(order)
    try:
        with scratch_folder("unit") as folder:
            answer = _run(standing, unit, folder / "run.jsonl")
    except BaseException:
        standing.lane.kill()
        raise
    if answer.stopped is None:
        give_back(standing)
    else:
        standing.lane.kill()
    return answer


def _run(standing: Standing, unit: RunUnit, path: Path) -> UnitAnswer:
    begun = time.monotonic()
    options = standing.order.options
    with unit.suite(standing.order.suite) as suite:
        plan = RunPlan(
            suite, unit.cases, standing.forms, options.repeat, own_forms=unit.forms, between=unit.between
        )
        writer = RecordWriter(path, {})
        machine = machine_here()
        alone = replace(options, jobs=1, max_failures=None, shard=None)
        collector = Collector(suite, writer, Silent(), alone, machine=str(machine["name"]))
        try:
            run_lane(standing.lane, TaskSource(plan), collector)
        finally:
            writer.close()
    orders = array("Q")
    for case, form, repeat in writer.places.listed():
        orders.extend((unit.positions[case], form, repeat))
    kept = outputs_folder(path)
    outputs = {each.name: each.read_bytes() for each in kept.iterdir()} if kept.is_dir() else {}
    halt = collector.halt
    return UnitAnswer(
        machine,
        standing.identity,
        deflated(path.read_bytes().partition(b"\n")[2]),
        orders.tobytes(),
        time.monotonic() - begun,
        outputs,
        standing.take_losses(),
        standing.loaded() if options.identify else None,
        None if halt.reason is None else (str(halt.kind), halt.reason),
    )


@on_worker
def newest_opset(runtime: ToldRuntime, oldest: int, newest: int) -> int | None:
    """The newest of ONNX's opsets that the runtime takes on this machine; as `find_newest_opset`."""
    return find_newest_opset(runtime.find(), oldest, newest)


def end_run(key: str) -> None:
    """Let the runtimes of a run go."""
    let_all_go(key)
