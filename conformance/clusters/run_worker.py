"""What a worker of a cluster does of a run: it starts the runtime, and runs units of cases on it."""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.clusters.machines import machine_here
from conformance.clusters.run_units import RunOrder, RunUnit, UnitAnswer, deflated
from conformance.clusters.standing_runtimes import Standing, give_back, let_all_go, take_standing
from conformance.clusters.told_runtimes import ToldRuntime
from conformance.clusters.worker_answers import on_worker
from conformance.doctor.abilities import find_newest_opset
from conformance.models.case_models import Form
from conformance.processes.scratch_folders import scratch_folder
from conformance.recording.outputs import outputs_folder
from conformance.recording.records import RecordWriter
from conformance.running.collector import Collector
from conformance.running.harness import run_lane
from conformance.running.progress import Silent
from conformance.running.task_source import RunPlan, TaskSource


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
