"""How far honest float32 arithmetic comes to what the suite's own cases allow, by family, and planted faults.

    uv run python -m tools.bounds_of_cases            # the table of docs/why-believe.md

Every case of the default suite in float32 of the operators below is computed anew in four orders that share
nothing with the reference: from the first term on, from the last, pairwise, and in eight lanes with fused
multiply-add, formulas with their divisions done as divisions and by reciprocals. The first number of a family
is the worst error of an element over what the judge allows it; below 1 nobody is accused. Then faults are
planted into all elements of a case; of those that change any element, the table says how many are noticed.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case
from generator.making.operators.discovery import select_operators
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from tests.reference.float32_formulas import FAMILIES, Formula
from tests.reference.float32_terms import Values

MOST = 1_000
"""Cases of more elements are left out: running sums of so many take minutes, and show nothing else."""


@dataclass
class Measured:
    """A family: cases, the worst honest share, and those of each fault in the cases that it changes."""

    family: str
    operators: Sequence[str]
    cases: int = 0
    worst: float = 0.0
    faults: dict[str, list[float]] = field(default_factory=dict)


def shares(case: Case, got: NDArray[np.float32]) -> NDArray[np.float64]:
    """By element the distance from the expectation over what is allowed; 0 where other values are, too."""
    (output, *_) = case.expectations[0].outputs
    expected = output.expected.array.astype(np.float64)
    allowed = np.zeros(expected.shape) if output.allowed is None else output.allowed
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        apart = np.abs(got.astype(np.float64).reshape(expected.shape) - expected)
        found = np.where(apart == 0, 0.0, apart / allowed)
    known = np.isfinite(expected) & np.isfinite(allowed)
    for alternative in output.alternatives:
        known.reshape(-1)[alternative.index] = False
    return np.where(known, found, 0.0)


def float_cases(name: str, size: str = "default") -> Iterator[Case]:
    """The cases of an operator's suite of a size that give finite float32 and demand an answer."""
    for operator in select_operators((name,)):
        for case in generate_operator(operator, Options.of(size)).cases:
            if case.demand == "answer" and case.element_type.name == "float" and _is_plain(case):
                yield case


def _is_plain(case: Case) -> bool:
    if case.slots or case.expectations[0].outputs[0].expected.array.size > MOST:
        return False
    given = [
        tensor for _, tensor in case.inputs if tensor is not None and tensor.element_type.name == "float"
    ]
    return all(bool(np.isfinite(tensor.array).all()) for tensor in given)


def measure(names: Sequence[str] = ()) -> list[Measured]:
    """What every family comes to; of the named operators alone, where some are named."""
    found = []
    for family, formulas in FAMILIES.items():
        chosen = {name: formula for name, formula in formulas.items() if not names or name in names}
        measured = Measured(family, list(chosen))
        for name, formula in chosen.items():
            for case in float_cases(name):
                _measure_case(measured, formula, case)
        if measured.cases:
            found.append(measured)
    return found


def _measure_case(measured: Measured, formula: Formula, case: Case) -> None:
    values = Values.of(case)
    with np.errstate(all="ignore"):
        honest = [made.astype(np.float32) for made in formula.honest(values)]
        faulty = {name: made.astype(np.float32) for name, made in formula.faulty(values).items()}
    measured.cases += 1
    for made in honest:
        measured.worst = max(measured.worst, float(shares(case, made).max(initial=0.0)))
    for name, made in faulty.items():
        told = shares(case, made)
        if (made.reshape(-1) != honest[0].reshape(-1))[told.reshape(-1) > 0].any():
            measured.faults.setdefault(name, []).append(float(told.max(initial=0.0)))


def table(found: Sequence[Measured]) -> str:
    """The table of docs/why-believe.md."""
    lines = [
        "| family | operators | cases | worst honest error / allowed | planted fault | cases it changes "
        "| noticed | median error / allowed |",
        "|---|---|---:|---:|---|---:|---:|---:|",
    ]
    for measured in found:
        operators = ", ".join(measured.operators)
        start = f"| {measured.family} | {operators} | {measured.cases:,} | {measured.worst:.2f} "
        for fault, numbers in measured.faults.items():
            lines.append(start + f"| {fault} | {len(numbers):,} | {_noticed(numbers)} | {_median(numbers)} |")
            start = "| | | | "
    return "\n".join(lines)


def _noticed(numbers: Sequence[float]) -> str:
    return f"{100 * sum(number > 1 for number in numbers) / len(numbers):.0f} %"


def _median(numbers: Sequence[float]) -> str:
    found = statistics.median(numbers)
    return "beyond 10^9" if found > 1e9 else f"{found:,.0f}"


def main() -> int:
    found = measure(sys.argv[1:])
    print(table(found))
    return 1 if any(measured.worst > 1 for measured in found) else 0


if __name__ == "__main__":
    sys.exit(main())
