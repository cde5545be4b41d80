"""The judge: a million elements beside numpy's assert_allclose, and a small case with its row in the record.

Usage: uv run python -m benchmarks.judge [--rounds N]

The first table judges whole cases of one output of a million elements (verdict, worst element, pattern), and
calls numpy.testing.assert_allclose on the same arrays as numbers (bfloat16 as float32) with a tolerance that
decides the same; both are the median of N interleaved rounds. The second judges and records small cases one
by one, as a run does. What is over its limit (50 ms for float, 100 microseconds) is named at the end, exit
code 1.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Refused, Response
from conformance.recording.records import RecordWriter
from conformance.running.collector import Collector
from conformance.running.progress import Silent
from conformance.running.run_options import RunOptions
from conformance.running.tasks import Task
from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from conformance.suite.suites import open_suite, write_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

ELEMENTS = 1_000_000
LIMIT = 50.0
SMALL_LIMIT = 100.0
OPERATOR = OperatorName.parse("ai.onnx::Identity-13")
Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Contest:
    """Arrays to judge, in storage and as numpy's numbers, and the allowance of both."""

    name: str
    expected: Tensor
    got: Tensor
    numbers: tuple[Floats, Floats]
    allowed: float | None


def contests(type_name: str) -> Iterator[Contest]:
    """Bit-equal, within bounds, and wrong in a tenth of the elements, with allowances and without."""
    element_type = ELEMENT_TYPES[type_name]
    source = np.random.default_rng(7)
    values = source.uniform(1, 2, ELEMENTS).reshape(1, 10, 250, 400)
    expected = _store(values, type_name)
    bits = expected.view(f"u{expected.itemsize}")
    near = (bits + bits.dtype.type(1)).view(expected.dtype)
    wrong = _store(values + 0.125 * (source.random(values.shape) > 0.9), type_name)
    shifted = np.roll(expected, 1, 3)
    allowed = 0.02
    for name, got, limit in (
        ("bit-equal", expected.copy(), None),
        ("bit-equal, allowed", expected.copy(), allowed),
        ("within bounds", near, allowed),
        ("mismatch", wrong, None),
        ("mismatch, allowed", wrong, allowed),
        ("mismatch everywhere", near, None),
        ("mismatch, shifted", shifted, allowed),
    ):
        numbers = (_numbers(got, type_name), _numbers(expected, type_name))
        stored = (Tensor(element_type, expected), Tensor(element_type, got))
        yield Contest(f"{type_name}, {name}", *stored, numbers, limit)


def _store(values: NDArray[np.float64], type_name: str) -> NDArray[Any]:
    if type_name == "bfloat16":
        bits: NDArray[Any] = (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return bits
    return values.astype(ELEMENT_TYPES[type_name].storage)


def _numbers(stored: NDArray[Any], type_name: str) -> Floats:
    if type_name == "bfloat16":
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return stored


def make_case(seed: int, output: Tensor, allowed: NDArray[np.float64] | None) -> Case:
    """A case of one output; its only input is a scalar that makes its id its own."""
    inputs = (("X", Tensor(ELEMENT_TYPES["int32"], np.array(seed, dtype=np.int32))),)
    return Case(
        id=CaseId(OPERATOR, "cover", None, call_digest(OPERATOR, {}, inputs)),
        element_type=output.element_type,
        attributes={},
        inputs=inputs,
        output_names=("Y",),
        demand="answer",
        expectations=(Expectation((ExpectedOutput("Y", output, allowed),), {"ties": ("even",)}),),
        levels={"data": "random", "mode": "linear", "axes": "all"},
    )


def milliseconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)


def compare(contest: Contest, rounds: int) -> tuple[float, float]:
    """Median milliseconds of the judge and of assert_allclose."""
    allowed = None if contest.allowed is None else np.full(contest.expected.shape, contest.allowed)
    case = make_case(0, contest.expected, allowed)
    response = Answered((contest.got,))
    right = judge(case, response).verdict == "pass"

    def theirs() -> bool:
        try:
            np.testing.assert_allclose(*contest.numbers, rtol=0, atol=contest.allowed or 0)
        except AssertionError:
            return False
        return True

    if theirs() != right:
        raise SystemExit(f"{contest.name}: the judge and assert_allclose do not agree")
    pairs = [(milliseconds(lambda: judge(case, response)), milliseconds(theirs)) for _ in range(rounds)]
    ours, other = zip(*pairs, strict=True)
    return statistics.median(ours), statistics.median(other)


def small_responses(count: int) -> Iterator[tuple[str, list[tuple[Case, Response]]]]:
    """Small cases of 24 elements with what a runtime answers, kind by kind."""
    source = np.random.default_rng(3)
    expected = source.normal(size=(1, 2, 3, 4)).astype(np.float32)
    wanted, near, far = (
        Tensor(ELEMENT_TYPES["float"], each)
        for each in (expected, np.nextafter(expected, np.float32(9)), expected**2)
    )
    allowed = np.full(expected.shape, 1e-5)
    refusal = Refused("Fail", "Exception from a.cpp:1:\nNot supported for this type", seconds=1e-4)
    for name, response, limits in (
        ("bit-equal", Answered((wanted,), 1e-4), allowed),
        ("within bounds", Answered((near,), 1e-4), allowed),
        ("mismatch", Answered((far,), 1e-4), allowed),
        ("mismatch, exact", Answered((near,), 1e-4), None),
        ("refused", refusal, allowed),
    ):
        yield name, [(make_case(each, wanted, limits), replace(response)) for each in range(count)]


def record(cases: list[tuple[Case, Response]], folder: Path) -> float:
    """Microseconds a case for judging and recording, the record's end included."""
    suite_path = folder / "suite"
    write_suite(suite_path, [each for each, _ in cases], {}, {})
    writer = RecordWriter(folder / "run.jsonl", {})
    collector = Collector(open_suite(suite_path), writer, Silent(), RunOptions())
    tasks = [Task.of(case, "inputs", 0, (number, 0, 0)) for number, (case, _) in enumerate(cases)]
    begun = time.perf_counter()
    for task, (_, response) in zip(tasks, cases, strict=True):
        collector.take(task, response)
    collector.finish([], [])
    return 1e6 * (time.perf_counter() - begun) / len(cases)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    rounds = parser.parse_args().rounds
    slow = []
    print(f"{ELEMENTS:,} elements, milliseconds (median of {rounds})")
    print(f"{'':32} {'judge':>8} {'allclose':>9} {'judge / allclose':>17}")
    for type_name in ("float", "double", "bfloat16", "float16"):
        for contest in contests(type_name):
            ours, theirs = compare(contest, rounds)
            print(f"{contest.name:32} {ours:8.2f} {theirs:9.2f} {ours / theirs:17.2f}")
            if type_name == "float" and ours >= LIMIT:
                slow.append(contest.name)
    print("\nsmall cases of 24 elements, judged and recorded, microseconds a case (minimum, median)")
    for name, cases in small_responses(2000):
        taken = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                taken.append(record(cases, Path(folder)))
        print(f"{name:32} {min(taken):8.1f} {statistics.median(taken):8.1f}")
        if min(taken) >= SMALL_LIMIT:
            slow.append(f"small, {name}")
    if slow:
        raise SystemExit(f"over the limit: {', '.join(slow)}")


if __name__ == "__main__":
    main()
