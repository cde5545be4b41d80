"""The words for verdicts: their order, groups and short forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FAILING = ("crash", "timeout", "mismatch", "rejected_valid", "accepted_invalid")
"""Verdicts that say that a runtime does not do what the documents say, the worst first."""


WORST_FIRST = (*FAILING, "harness_error", "not_run", "unsupported", "observed", "pass")
"""Every verdict, in the order in which lists have them."""


@dataclass(frozen=True)
class Group:
    """Verdicts that mean the same to a reader, under one heading."""

    heading: str
    verdicts: tuple[str, ...]


GROUPS = (
    Group("as the documents say", ("pass",)),
    Group("not as the documents say", FAILING),
    Group("the runtime says it cannot", ("unsupported",)),
    Group("nothing demanded", ("observed",)),
    Group("not counted", ("harness_error", "not_run")),
)


def word(verdict: str) -> str:
    """A verdict as people read it: `rejected valid`."""
    return verdict.replace("_", " ")


def short_word(verdict: str) -> str:
    """A verdict in a narrow cell: `rejected`, `accepted`."""
    return word(verdict).removesuffix(" valid").removesuffix(" invalid")


def failing(counts: Mapping[str, int]) -> int:
    """How many of the counted cases fail."""
    return sum(counts.get(each, 0) for each in FAILING)


class VerdictCounts:
    """What cases counted by verdict come to, for whatever has `counts`."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def passing(self) -> int:
        return self.counts.get("pass", 0)

    @property
    def failing(self) -> int:
        """How many fail, those that blame nobody among them."""
        return failing(self.counts)

    @property
    def unsupported(self) -> int:
        return self.counts.get("unsupported", 0)

    @property
    def observed(self) -> int:
        """How many demand nothing but survival, and survived."""
        return self.counts.get("observed", 0)
