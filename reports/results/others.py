"""Other runs of the suite beside one: of the cases of a cause, which pass and which fail there as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import FAILING, NOT_RUN

FEWEST = 2
"""So many other runtimes must have been asked before it is said that none of them passes."""


@dataclass(frozen=True, eq=False)
class OtherRun:
    """Another runtime's record of the same suite: its name with version, and each case's verdict.

    One that `optimises_less` is of the same runtime and version, and is told apart from other runtimes.
    """

    label: str
    verdicts: Mapping[str, str]
    optimises_less: bool = False


@dataclass(frozen=True)
class Beside:
    """How many of some cases pass and fail on another runtime; the others were not judged there."""

    label: str
    passing: int
    failing: int

    @property
    def judged(self) -> bool:
        return bool(self.passing or self.failing)


def hold_beside(cases: Sequence[str], runs: Iterable[OtherRun]) -> tuple[Beside, ...]:
    """What each other run makes of cases."""
    found = []
    for run in runs:
        if run.optimises_less:
            continue
        verdicts = [run.verdicts.get(case, NOT_RUN) for case in cases]
        failing = sum(verdict in FAILING for verdict in verdicts)
        found.append(Beside(run.label, verdicts.count("pass"), failing))
    return tuple(found)


def nobody_passes(beside: Sequence[Beside]) -> bool:
    """Whether several other runtimes fail such cases, too, and none passes one: perhaps nobody can."""
    judged = [each for each in beside if each.judged]
    return len(judged) >= FEWEST and not any(each.passing for each in judged)
