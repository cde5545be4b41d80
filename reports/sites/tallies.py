"""Cases counted by verdict, and the one mark that a cell has for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.judging.verdicts import VerdictCounts, word


@dataclass(frozen=True)
class Tally(VerdictCounts):
    """How many cases have each verdict."""

    counts: Mapping[str, int]

    @classmethod
    def sum_of(cls, tallies: Iterable[Tally]) -> Tally:
        counts = Counter[str]()
        for each in tallies:
            counts.update(each.counts)
        return cls(counts)

    @property
    def fails(self) -> bool:
        return self.failing > 0

    @property
    def word(self) -> str:
        """The mark as people read it."""
        return word(self.mark)
