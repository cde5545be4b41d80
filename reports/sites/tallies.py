"""Cases counted by verdict, and the one mark that a cell has for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from reports.page_making.phrasing import count
from reports.results.verdicts import FAILING, WORST_FIRST, VerdictCounts, word

OPEN = "open"
"""The mark of cases that fail, and blame nobody."""
_REST = ("pass", OPEN, "unsupported", "observed", "harness_error", "not_run")


@dataclass(frozen=True)
class Tally(VerdictCounts):
    """How many cases have each verdict; `left_open` are those of them that fail, and blame nobody."""

    counts: Mapping[str, int]
    left_open: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def sum_of(cls, tallies: Iterable[Tally]) -> Tally:
        counts, left_open = Counter[str](), Counter[str]()
        for each in tallies:
            counts.update(each.counts)
            left_open.update(each.left_open)
        return cls(counts, left_open)

    @property
    def open(self) -> int:
        return sum(self.left_open.values())

    @property
    def wrong(self) -> int:
        """How many fail without an excuse in the documents."""
        return self.failing - self.open

    @property
    def fails(self) -> bool:
        return self.wrong > 0

    @cached_property
    def mark(self) -> str:
        """The worst verdict of what is wrong; where nothing is, what most describes the cases."""
        blamed = (each for each in FAILING if self.counts.get(each, 0) > self.left_open.get(each, 0))
        has = {**self.counts, OPEN: self.open}
        return next(blamed, None) or next((each for each in _REST if has.get(each)), "not_run")

    @property
    def word(self) -> str:
        """The mark as people read it."""
        return "open in the documents" if self.mark == OPEN else word(self.mark)

    @property
    def words(self) -> str:
        """Every count in words, the worst first; the numbers before the semicolon add up to the total."""
        parts = [f"{count(self.counts[each])} {word(each)}" for each in WORST_FIRST if self.counts.get(each)]
        left = f"; {count(self.open)} of those that fail are open in the documents" if self.open else ""
        return f"{', '.join(parts)}{left}"
