"""The main job: running the default suite beside bare loops over the same cases.

Usage: uv run python -m benchmarks.main_job [--pairs N] [--suite FOLDER]

Prints, for each command, wall seconds as minimum, median and maximum, processor seconds, and the peak memory
of its largest process; the ratios of harness to bare loop round by round; and what judging and recording take
of the harness. The cases are those whose element types, of inputs and of outputs, numpy has and whose
operators ONNX Runtime offers; all start a process, create sessions, run and compare, each on one thread of
the runtime.

Both bare loops create a session for every case. One is what somebody writes by hand (bare_tests.py): it reads
the cases as tests in ONNX's layout and compares with numpy's assert_allclose. The other is as bare as can be
(bare_loop.py): models and arrays lie ready as bytes in one file, and numpy's allclose compares. Operators
that take a process down are left out of all: a loop would end there, or some cases later. The harness creates
one session for neighbours that are the same call with other data (few are), and judges in a second process
while the runtime works, so that it can use two processors where a loop uses one. It runs as it does by
default, with some cases in the other forms too, and with the loops' calls alone (`--forms preferred`). Its
record is whole before the failures are divided into classes for the summary at its end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.measured import Measured, run_measured, show, show_ratios
from conformance.models.case_models import build_model
from conformance.models.input_names import named_inputs
from conformance.processes.worker_limits import Limits
from conformance.recording.records import RecordWriter
from conformance.running.collector import Collector
from conformance.running.harness import run_request
from conformance.running.lane import Lane
from conformance.running.progress import Silent
from conformance.running.resuming import RecordPlace
from conformance.running.run_options import RunOptions, RunPlan, RunRequest
from conformance.runtimes.environments import prepare
from conformance.runtimes.runtimes import find_runtime, install
from conformance.suite.cases import Case
from conformance.suite.suites import Suite, open_suite, write_suite
from generator.making.suites.cache import default_suite
from reports.single_cases.case_folder import export_suite

OPCERT = (sys.executable, "-m", "opcert")
STORED_BY_NUMPY = frozenset(
    ("float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
     "uint64")
)  # fmt: skip


def is_comparable(case: Case) -> bool:
    """Whether a bare loop can run a case: plain numpy types, an operator of ONNX Runtime."""
    types = {tensor.element_type.name for _, tensor in case.inputs if tensor is not None}
    types |= {output.expected.element_type.name for one in case.expectations for output in one.outputs}
    offered = case.operator.domain in ("ai.onnx", "com.microsoft")
    return offered and types <= STORED_BY_NUMPY


def write_bare_loop_files(cases: Sequence[Case], valid: Callable[[Case], Case | None], folder: Path) -> None:
    """Write models, inputs and expectations where bare_loop.py finds them: bytes one behind the other."""
    listed = []
    with (folder / "bytes").open("wb") as file:

        def put(raw: bytes) -> tuple[int, int]:
            begin = file.tell()
            file.write(raw)
            file.write(bytes(-len(raw) % 16))
            return begin, len(raw)

        def put_array(array: NDArray[np.generic]) -> tuple[str, tuple[int, ...], tuple[int, int]]:
            return array.dtype.str, array.shape, put(array.tobytes())

        for case in cases:
            inputs = {name: put_array(tensor.array) for name, tensor in named_inputs(case.inputs)}
            expected = (
                [put_array(output.expected.array) for output in case.expectations[0].outputs]
                if case.expectations
                else None
            )
            model = put(build_model(case, "inputs", valid(case)))
            listed.append({"model": model, "inputs": inputs, "expected": expected})
    (folder / "cases.json").write_text(json.dumps(listed))


def judging_and_recording(suite: Suite, folder: Path) -> float:
    """Processor microseconds a case for judging and recording what ONNX Runtime answered, with the footer."""
    runtime = find_runtime("onnxruntime")
    lane = Lane(install(runtime, print).launch, runtime.adapter, Limits())
    lane.start()
    answered = list(lane.run(RunPlan(suite, suite.case_ids, ("inputs",), 1).tasks()))
    lane.close()
    taken = []
    for _ in range(3):
        collector = Collector(suite, RecordWriter(folder / "judged.jsonl", {}), Silent(), RunOptions())
        begun = time.thread_time()
        for task, response in answered:
            collector.take(task, response)
        collector.finish((), ())
        taken.append(time.thread_time() - begun)
    return 1e6 * min(taken) / len(answered)


def _to_the_record(command: Sequence[str], record: Path) -> tuple[Measured, Measured]:
    """A run of the harness as a whole, and with the wall seconds until its record was whole."""
    begun = time.time()
    whole = run_measured(command)
    return whole, replace(whole, seconds=record.stat().st_mtime - begun)


def _surviving(suite: Suite, cases: Sequence[Case], folder: Path) -> list[Case]:
    """The cases of operators of which none takes the runtime's process down, now or by what it leaves."""
    only = {str(each.id) for each in cases}
    request = RunRequest(suite, find_runtime("onnxruntime"), RunOptions(forms="preferred"), only)
    record = run_request(request, RecordPlace(folder / "survival.jsonl"))
    lost = {result.operator for result in record.results if result.response in ("crashed", "timed out")}
    return [each for each in cases if str(each.operator) not in lost]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5, help="how often each command runs")
    parser.add_argument("--suite", type=Path, help="another suite than the default one")
    asked = parser.parse_args()
    runtime = install(find_runtime("onnxruntime"), print)
    suite = open_suite(asked.suite or default_suite(print))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = _surviving(suite, [each for each in suite.cases() if is_comparable(each)], folder)
        print(f"{len(suite.case_ids)} cases in the suite, {len(cases)} of them in the bare loop")

        def valid_case(case: Case) -> Case | None:
            return suite.case(case.valid_case) if case.valid_case else None

        write_bare_loop_files(cases, valid_case, folder)
        selected = folder / "suite"
        neighbours = {str(each.id): each for case in cases if (each := valid_case(case)) is not None}
        together = [*({str(each.id): each for each in cases} | neighbours).values()]
        write_suite(selected, together, {}, {})
        tests = folder / "tests"
        with open_suite(selected) as chosen:
            for _ in export_suite(chosen, tests):
                pass
        version = runtime.facts["packages"]["onnxruntime"]
        by_hand = prepare((f"onnxruntime=={version}", f"onnx=={onnx.__version__}"), announce=print)
        written = (str(by_hand.program), str(Path(__file__).with_name("bare_tests.py")), str(tests))
        bare = (runtime.launch.command[0], str(Path(__file__).with_name("bare_loop.py")), name)
        harness = (*OPCERT, "run", "onnxruntime", "-s", str(selected), "-o", str(folder / "run.jsonl"))

        same_calls = (*harness, "--forms", "preferred")
        for command in (written, bare):
            run_measured(command, answers=[0])
        tested, looped, run, recorded, alike = [], [], [], [], []
        for number in range(asked.pairs):
            write_suite(selected, together, {}, {"round": [time.time_ns(), number]})
            tested.append(run_measured(written, answers=[0]))
            looped.append(run_measured(bare, answers=[0]))
            alike.append(_to_the_record(same_calls, folder / "run.jsonl")[1])
            run_measured(harness)
            whole, until_record = _to_the_record(harness, folder / "run.jsonl")
            run.append(whole)
            recorded.append(until_record)
        with open_suite(selected) as chosen:
            judging = judging_and_recording(chosen, folder)
    print(f"{'':28} {'minimum':>8} {'median':>8} {'maximum':>8}")
    show("bare loop over tests", tested, len(cases))
    show("bare loop over bytes", looped, len(cases))
    show("opcert run, loops' calls", alike, len(cases))
    show("opcert run, to the record", recorded, len(cases))
    show("opcert run, to the end", run, len(cases))
    for loop, measured in (("tests", tested), ("bytes", looped)):
        told = f"opcert run of the loops' calls to the record / bare loop over {loop}"
        show_ratios(told, alike, measured)
        show_ratios(f"opcert run to the record / bare loop over {loop}", recorded, measured)
        show_ratios(f"opcert run to the end / bare loop over {loop}", run, measured)
    print(f"judging and recording: {judging:.0f} microseconds of processor a case")


if __name__ == "__main__":
    main()
