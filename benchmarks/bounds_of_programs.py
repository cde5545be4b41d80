"""How far honest float32 programs of whole families come to their bounds, and the smallest planted fault.

    uv run python -m benchmarks.bounds_of_programs [FAMILY...]    # the table of docs/bounds.md

The programs are those of the tests: at least three routes in float32 for each call. The first share is the
worst error of an element over what is allowed; below 1 nobody is accused. Of integers both are whole numbers:
1 is the other neighbour where both are accepted. Of each fault, over the calls of which it
changes an element, the table has the one whose median of greatest errors is least, and how many are noticed.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.asked import exit_code_of, parser_of
from benchmarks.programs_of_families import FAMILIES
from benchmarks.trials import Outputs, Trial


@dataclass
class Measured:
    """A family: its operators and calls, the worst honest share, and the shares of each fault by call."""

    family: str
    operators: list[str] = field(default_factory=list)
    calls: int = 0
    worst: float = 0.0
    faults: dict[str, list[float]] = field(default_factory=dict)

    @property
    def smallest(self) -> tuple[str, list[float]]:
        """The fault that is nearest to the bounds."""
        return min(self.faults.items(), key=lambda each: (statistics.median(each[1]), each[0]))

    @property
    def noticed(self) -> tuple[int, int]:
        """In how many calls faults are noticed, and in how many they change anything."""
        every = [each for shares in self.faults.values() for each in shares]
        return sum(each > 1 for each in every), len(every)


def measured(family: str, trials: Iterable[Trial]) -> Measured:
    """What the calls of a family come to."""
    found = Measured(family)
    for trial in trials:
        if trial.operator not in found.operators:
            found.operators.append(trial.operator)
        found.calls += 1
        with np.errstate(all="ignore"):
            found.worst = max(
                found.worst, *(float(trial.share(each).max(initial=0.0)) for each in trial.honest)
            )
        for fault, got in trial.faulty.items():
            # What is no other number than some honest program's is no fault in this call.
            if not any(_same(got, each) for each in trial.honest):
                found.faults.setdefault(fault, []).append(float(trial.share(got).max(initial=0.0)))
    return found


def _same(one: Outputs, other: Outputs) -> bool:
    return all(np.array_equal(*each, equal_nan=True) for each in zip(one, other, strict=True))


def table(found: Sequence[Measured]) -> str:
    """The table of docs/bounds.md."""
    lines = [
        "| family | operators | calls | worst honest error / allowed | faults noticed | smallest fault "
        "| noticed | median error / allowed |",
        "|---|---|---:|---:|---:|---|---:|---:|",
    ]
    for each in found:
        fault, shares = each.smallest
        noticed, changed = each.noticed
        lines.append(
            f"| {each.family} | {', '.join(each.operators)} | {each.calls:,} | {each.worst:.2f} "
            f"| {noticed:,} of {changed:,} | {fault} | {sum(share > 1 for share in shares):,} "
            f"of {len(shares):,} | {_told(statistics.median(shares))} |"
        )
    return "\n".join(lines)


def _told(share: float) -> str:
    return "beyond 10^9" if share > 1e9 else f"{share:,.1f}" if share < 100 else f"{share:,.0f}"


def main(words: Sequence[str]) -> int:
    """Measure the named families, or all; 1 where an honest program is beyond its bound."""
    parser = parser_of(__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    asked = parser.parse_args(words).families or list(FAMILIES)
    if unknown := [each for each in asked if each not in FAMILIES]:
        parser.error(f"no family is called {unknown[0]}; there are {', '.join(FAMILIES)}")
    found = [measured(name, FAMILIES[name]()) for name in FAMILIES if name in asked]
    print(table(found))
    return 1 if any(each.worst > 1 for each in found) else 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
