"""The main job: generating the default suite, and running it beside a bare loop over the same cases.

Usage: uv run python -m benchmarks.main_job [--pairs N]

Prints, for each command, wall seconds and peak memory (the largest process) as minimum, median and maximum,
and the ratio of harness to bare loop pair by pair. The cases of the second part are those whose element types
numpy has and whose operators ONNX Runtime offers; both sides start a process, create a session for each case,
run it and compare, on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from conformance.cases import Case
from conformance.models import build_model, named_inputs
from conformance.runtimes import find_runtime, install
from conformance.suites import open_suite, write_suite
from generator.cache import default_suite

OPCERT = (sys.executable, "-m", "opcert")
STORED_BY_NUMPY = frozenset(
    (
        "float",
        "double",
        "float16",
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    )
)


@dataclass(frozen=True)
class Measured:
    """One finished command: wall seconds, and the resident memory of its largest process in MiB."""

    seconds: float
    mebibytes: float


def run_measured(command: Sequence[str], environment: dict[str, str] | None = None) -> Measured:
    """Run a command to its end; exit code 1 (cases failed) is an answer, anything beyond is raised."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begun
        if child.returncode not in (0, 1):
            output.seek(0)
            raise SystemExit(f"{command} answered {child.returncode}:\n{output.read().decode()}")
    return Measured(seconds, usage.ru_maxrss / 1024)


def is_comparable(case: Case) -> bool:
    """Whether a bare loop can run a case: plain numpy types, an operator of ONNX Runtime."""
    types = {tensor.element_type.name for _, tensor in case.inputs if tensor is not None}
    offered = case.operator.domain in ("ai.onnx", "com.microsoft")
    return offered and types <= STORED_BY_NUMPY


def write_bare_loop_files(cases: Sequence[Case], valid: Callable[[Case], Case | None], folder: Path) -> None:
    """Write models, inputs and expectations where bare_loop.py finds them."""
    arrays: dict[str, NDArray[np.generic]] = {}
    listed = []
    for position, case in enumerate(cases):
        model = np.frombuffer(build_model(case, "inputs", valid(case)), dtype=np.uint8)
        arrays[f"{position}.model"] = model
        inputs = {}
        for name, tensor in named_inputs(case.inputs):
            inputs[name] = f"{position}.in.{name}"
            arrays[inputs[name]] = tensor.array
        expected = None
        if case.expectations:
            expected = f"{position}.out"
            arrays[expected] = case.expectations[0].outputs[0].expected.array
        listed.append({"model": f"{position}.model", "inputs": inputs, "expected": expected})
    np.savez(folder / "arrays.npz", allow_pickle=False, **arrays)
    (folder / "cases.json").write_text(json.dumps(listed))


def show(name: str, measured: Sequence[Measured], cases: int) -> None:
    """Print one row: minimum, median and maximum."""
    seconds = [each.seconds for each in measured]
    memory = max(each.mebibytes for each in measured)
    median = statistics.median(seconds)
    print(
        f"{name:28} {min(seconds):8.2f} {median:8.2f} {max(seconds):8.2f} s"
        f" {1000 * median / cases:8.3f} ms a case {memory:8.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5, help="how often each command runs")
    pairs = parser.parse_args().pairs
    runtime = install(find_runtime("onnxruntime"), print)
    suite = open_suite(default_suite(print))
    cases = [each for each in suite.cases() if is_comparable(each)]
    print(f"{len(suite.case_ids)} cases in the default suite, {len(cases)} of them in the bare loop")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def valid_case(case: Case) -> Case | None:
            return suite.case(case.valid_case) if case.valid_case else None

        write_bare_loop_files(cases, valid_case, folder)
        selected = folder / "suite"
        neighbours = {str(each.id): each for case in cases if (each := valid_case(case)) is not None}
        write_suite(selected, ({str(each.id): each for each in cases} | neighbours).values(), {}, {})
        bare = (runtime.launch.command[0], str(Path(__file__).with_name("bare_loop.py")), name)
        harness = (*OPCERT, "run", "onnxruntime", "-s", str(selected), "-o", str(folder / "run.jsonl"))
        generate = (*OPCERT, "generate", "-o", str(folder / "generated"))

        run_measured(bare)
        run_measured(harness)
        looped, run = [], []
        for _ in range(pairs):
            looped.append(run_measured(bare))
            run.append(run_measured(harness))
        generated = [run_measured(generate) for _ in range(max(1, pairs // 2))]
    print(f"{'':28} {'minimum':>8} {'median':>8} {'maximum':>8}")
    show("generate the default suite", generated, len(suite.case_ids))
    show("bare loop", looped, len(cases))
    show("opcert run", run, len(cases))
    ratios = [ours.seconds / theirs.seconds for ours, theirs in zip(run, looped, strict=True)]
    middle = statistics.median(ratios)
    print(f"opcert run / bare loop: {min(ratios):.2f} to {max(ratios):.2f}, median {middle:.2f}")


if __name__ == "__main__":
    main()
