"""Memory of the harness: `opcert run` over a suite of 10,000 and over one of 100,000 small cases.

Usage: uv run python -m benchmarks.memory [--small N] [--large N] [--runtime RUNTIME]

Prints for each the peak of resident memory of the process that runs `opcert run` (not of its worker), and by
how many bytes a case the two differ. All cases are calls of Identity on other data, one in a hundred with an
expectation that the runtime does not meet.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from conformance.suite.suites import write_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

IDENTITY = OperatorName.parse("ai.onnx::Identity-13")
INT32 = ELEMENT_TYPES["int32"]
WRONG_ONE_IN = 100


def many_cases(count: int) -> Iterator[Case]:
    """Identity of as many different tensors of four elements."""
    for number in range(count):
        given = Tensor(INT32, np.arange(number, number + 4, dtype=np.int32))
        wrong = number % WRONG_ONE_IN == 0
        expected = Tensor(INT32, given.array + np.int32(1)) if wrong else given
        inputs = (("X", given),)
        yield Case(
            id=CaseId(IDENTITY, "cover", None, call_digest(IDENTITY, {}, inputs)),
            element_type=INT32,
            attributes={},
            inputs=inputs,
            output_names=("Y",),
            demand="answer",
            expectations=(Expectation((ExpectedOutput("Y", expected),)),),
            levels={"data": "wrong" if wrong else "right", "rank": "1"},
        )


def peak_bytes(command: list[str]) -> tuple[int, float]:
    """The peak of a command's own resident memory in bytes, and its wall seconds."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        status, peak = Path(f"/proc/{process.pid}/status"), 0
        while process.poll() is None:
            for line in status.read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak = int(line.split()[1]) << 10
            time.sleep(0.05)
        if process.returncode not in (0, 1):
            output.seek(0)
            raise SystemExit(f"{command} answered {process.returncode}:\n{output.read().decode()}")
    return peak, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", type=int, default=10_000, help="cases in the smaller suite")
    parser.add_argument("--large", type=int, default=100_000, help="cases in the larger one")
    parser.add_argument("--runtime", default="onnxruntime")
    asked = parser.parse_args()
    peaks = []
    for count in (asked.small, asked.large):
        with tempfile.TemporaryDirectory() as folder:
            suite, record = Path(folder) / "suite", Path(folder) / "run.jsonl"
            write_suite(suite, many_cases(count), {"operators": {}}, {})
            command = [
                sys.executable,
                "-m",
                "opcert",
                "run",
                asked.runtime,
                "-s",
                str(suite),
                "-o",
                str(record),
            ]
            peak, seconds = peak_bytes(command)
        peaks.append(peak)
        print(f"{count:>8,} cases: {peak / 2**20:7.1f} MiB at most, {seconds:6.1f} s", flush=True)
    each = (peaks[1] - peaks[0]) / (asked.large - asked.small)
    print(f"between them: {(peaks[1] - peaks[0]) / 2**20:.1f} MiB, {each:.0f} bytes a case")


if __name__ == "__main__":
    main()
