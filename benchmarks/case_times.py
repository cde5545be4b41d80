"""What a case costs to make, in milliseconds of processor: `python -m benchmarks.case_times [OPERATOR...]`.

Each operator of the default suite (or each that is named, as `opcert generate` reads names) is generated
twice in this process. The first run includes everything that is computed once, such as covering arrays and
parsed expressions; the second is what the cases themselves cost, without a look at what operators before it
left in memory. Prints both, the median of all operators,
and how many are above the limit: 20 ms for Resize, 2.5 ms for the others.
"""

from __future__ import annotations

import gc
import statistics
import sys
from collections.abc import Sequence
from time import process_time

from benchmarks.asked import exit_code_of, operators_asked
from generator.making.discovery import select_operators
from generator.making.operator_cases import generate_operator
from generator.making.workshop import Options
from opcert.vocabulary.names import OperatorName

CHEAP = 2.5
RESIZE = 20.0


def main(words: Sequence[str]) -> int:
    """Time the named operators, or all; always answers 0, for what a machine takes is no test."""
    found: dict[OperatorName, float] = {}
    for operator in select_operators(tuple(operators_asked(__doc__, words))):
        first, cases = timed(operator)
        again, _ = timed(operator)
        found[operator] = again
        print(f"{operator!s:36} {cases:4} cases {first:7.2f} {again:7.2f} ms a case", flush=True)
    above = [str(each) for each, milliseconds in found.items() if milliseconds > limit(each)]
    print(f"median {statistics.median(found.values()):.2f} ms; {len(above)} of {len(found)} above the limit")
    print(", ".join(above))
    return 0


def limit(operator: OperatorName) -> float:
    """Milliseconds that a case of the operator may cost."""
    return RESIZE if operator.name == "Resize" else CHEAP


def timed(operator: OperatorName) -> tuple[float, int]:
    """Milliseconds of processor for each case, and how many cases there are."""
    gc.collect()
    gc.freeze()
    started = process_time()
    made = generate_operator(operator, Options())
    return 1000 * (process_time() - started) / len(made.cases), len(made.cases)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
