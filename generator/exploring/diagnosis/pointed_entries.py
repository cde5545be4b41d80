"""A wrong answer with the entries that may be about it, and what a trial of an entry hangs on."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.recording.rows import Result
from conformance.suite.canonical import canonical_json, sha256
from reference.readings.disagreements import Disagreement

BLAMING = frozenset({"witness_fault", "tolerance"})
"""What an entry says whose cause is another blames nobody, and must show nothing without a formula."""


@dataclass(frozen=True, eq=False)
class Pointed:
    """The row of a wrong answer and the entries that may be about it: their conditions fit the call."""

    row: Result
    entries: tuple[Disagreement, ...]

    @property
    def with_formula(self) -> tuple[Disagreement, ...]:
        """The entries that say what is computed instead."""
        return tuple(each for each in self.entries if each.computes)

    @property
    def without_formula(self) -> tuple[Disagreement, ...]:
        """The entries that only the runtime can say something of."""
        return tuple(each for each in self.entries if not each.computes and each.cause in BLAMING)


def digest_of(entry: Disagreement) -> str:
    """Of what a trial of an entry hangs on: with another condition or formula it is another one."""
    stated = (entry.operator, entry.cases, entry.levels, entry.when, entry.computes)
    return sha256(canonical_json([entry.id, *stated]))[:12]
