"""Cases counted by verdict, and the one mark that a cell has for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from reports.page_making.phrasing import count
from reports.results.verdicts import FAILING, WORST_FIRST, VerdictCounts, word

_REST = ("inexact", "pass", "document", "unsupported", "observed", "limit", "harness_error", "not_run")


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

    @cached_property
    def mark(self) -> str:
        """The worst verdict of what fails; where nothing does, what most describes the cases."""
        return next((each for each in (*FAILING, *_REST) if self.counts.get(each)), "not_run")

    @property
    def word(self) -> str:
        """The mark as people read it."""
        return word(self.mark)

    @property
    def words(self) -> str:
        """Every count in words, the worst first; they add up to the total."""
        return ", ".join(
            f"{count(self.counts[each])} {word(each)}" for each in WORST_FIRST if self.counts.get(each)
        )
