"""How much of the allowed error honest routes take, and how far beyond it planted faults are.

Usage: uv run python -m benchmarks.bounds [CALLS]

So many random calls (400 where nothing is said) for each mode and element type, the same in every run; faults
are planted into one of 10 of those in float. Prints the tables of docs/bounds.md.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from tests.reference.measured_calls import ELEMENT_TYPES_MEASURED, MODES, random_calls, shares
from tests.reference.resize_by_loops import Call
from tests.reference.test_resize_bounds import FAULTS, fault_ratio

EVERY = 10


def quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


def measure(calls: int) -> None:
    """Print both tables."""
    by_route: dict[str, list[float]] = defaultdict(list)
    faulty: list[Call] = []
    print("| mode | element type | worst share of a route | 99 % of the calls' worst | median |")
    print("|---|---|---:|---:|---:|")
    for mode, antialias in MODES:
        for element_type in ELEMENT_TYPES_MEASURED:
            worst: list[float] = []
            for number, (call, answer) in enumerate(
                islice(random_calls(mode, antialias, element_type), calls)
            ):
                found = dict(shares(call, answer))
                for name, share in found.items():
                    by_route[name].append(share)
                worst.append(max(found.values()))
                if element_type == "float" and number % EVERY == 0:
                    faulty.append(call)
            worst.sort()
            name = f"{mode}, antialias" if antialias else mode
            figures = f"{worst[-1]:.2f} | {quantile(worst, 0.99):.2f} | {quantile(worst, 0.5):.2f}"
            print(f"| {name} | {element_type} | {figures} |", flush=True)
    print("\n| honest route | worst share | median of the calls' worst |")
    print("|---|---:|---:|")
    for name, found_shares in by_route.items():
        found_shares.sort()
        print(f"| {name} | {found_shares[-1]:.2f} | {quantile(found_shares, 0.5):.2f} |")
    print("\n| planted fault | calls | noticed | least | 5 % | median |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    for name, concerns, fault in FAULTS:
        ratios = sorted(fault_ratio(call, fault) for call in faulty if concerns(call))
        if not ratios:
            continue
        noticed = sum(each > 1 for each in ratios)
        figures = " | ".join(f"{quantile(ratios, part):.2g}" for part in (0, 0.05, 0.5))
        print(f"| {name} | {len(ratios)} | {100 * noticed // len(ratios)} % | {figures} |", flush=True)


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
