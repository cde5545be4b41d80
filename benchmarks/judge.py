"""The judge beside numpy's assert_allclose, on a million elements.

Usage: uv run python -m benchmarks.judge [--rounds N]

Whole cases of one output are judged (verdict, worst element, pattern), and numpy.testing.assert_allclose is
called on the same arrays as numbers (bfloat16 as float32) with a tolerance that decides the same; both are
the median of N interleaved rounds. `benchmarks.main_job` says what a small case takes, with its row.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

ELEMENTS = 1_000_000
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


def make_case(output: Tensor, allowed: NDArray[np.float64] | None) -> Case:
    """A case of one output and no inputs."""
    return Case(
        id=CaseId(OPERATOR, "cover", None, call_digest(OPERATOR, {}, ())),
        element_type=output.element_type,
        attributes={},
        inputs=(),
        output_names=("Y",),
        demand="answer",
        expectations=(Expectation((ExpectedOutput("Y", output, allowed),), {}),),
    )


def milliseconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)


def compare(contest: Contest, rounds: int) -> tuple[float, float]:
    """Median milliseconds of the judge and of assert_allclose."""
    allowed = None if contest.allowed is None else np.full(contest.expected.shape, contest.allowed)
    case = make_case(contest.expected, allowed)
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    rounds = parser.parse_args().rounds
    print(f"{ELEMENTS:,} elements, milliseconds (median of {rounds})")
    print(f"{'':32} {'judge':>8} {'allclose':>9} {'judge / allclose':>17}")
    for type_name in ("float", "double", "bfloat16", "float16"):
        for contest in contests(type_name):
            ours, theirs = compare(contest, rounds)
            print(f"{contest.name:32} {ours:8.2f} {theirs:9.2f} {ours / theirs:17.2f}")


if __name__ == "__main__":
    main()
