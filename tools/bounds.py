"""How much of the allowed error honest routes take, and how far beyond it planted faults are.

Usage: uv run python -m tools.bounds [CALLS]

So many random calls (400 where nothing is said) for each mode and element type, the same in every run; faults
are planted into a quarter of those in float that resize two axes to sizes. Prints the tables of the page
docs/bounds.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice

from tests.reference.measured_calls import ELEMENT_TYPES_MEASURED, MODES, random_calls, shares
from tests.reference.resize_by_loops import Call
from tests.reference.test_resize_bounds import FAULTS, fault_ratio, ordinary_calls
from tools.asked import number_asked

EVERY = 4


def quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def measure(calls: int) -> None:
    """Print both tables."""
    faulty: list[Call] = []
    print("| mode | element type | worst share of a route | 99 % of the calls' worst | median |")
    print("|---|---|---:|---:|---:|")
    for mode, antialias in MODES:
        for element_type in ELEMENT_TYPES_MEASURED:
            worst: list[float] = []
            for call, answer in islice(random_calls(mode, antialias, element_type), calls):
                found = dict(shares(call, answer))
                worst.append(max(found.values()))
                if element_type == "float" and is_ordinary(call):
                    faulty.append(call)
            worst.sort()
            name = f"{mode}, antialias" if antialias else mode
            figures = f"{worst[-1]:.2f} | {quantile(worst, 0.99):.2f} | {quantile(worst, 0.5):.2f}"
            print(f"| {name} | {element_type} | {figures} |", flush=True)
    measure_faults(faulty[::EVERY])


def is_ordinary(call: Call) -> bool:
    """Whether every fault can be planted into a call: two axes of which both are resized, to sizes."""
    different = call.sizes is not None and all(
        size != length for size, length in zip(call.sizes, call.shape, strict=True)
    )
    return different and len(call.shape) == 2 and min(call.shape) > 1


def measure_faults(drawn: Sequence[Call]) -> None:
    """Print how far beyond what is allowed each fault is in its worst element, by call."""
    print("\n| planted fault | random calls | noticed | median | ordinary calls | least |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    for name, concerns, fault in FAULTS:
        ordinary = [fault_ratio(call, fault) for call in ordinary_calls() if concerns(call)]
        ratios = sorted(fault_ratio(call, fault) for call in drawn if concerns(call))
        noticed = 100 * sum(each > 1 for each in ratios) // max(len(ratios), 1)
        median = f"{quantile(ratios, 0.5):.2g}" if ratios else "-"
        figures = f"{len(ratios)} | {noticed} % | {median} | {len(ordinary)} | {min(ordinary):.2g}"
        print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    measure(number_asked(__doc__, sys.argv[1:]))
