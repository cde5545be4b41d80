"""The verdicts, in one place: their words, their order, their groups, and what people read for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

Verdict = Literal[
    "pass",
    "mismatch",
    "inexact",
    "document",
    "unsupported",
    "rejected_valid",
    "accepted_invalid",
    "crash",
    "timeout",
    "limit",
    "observed",
    "harness_error",
    "not_run",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
WrongRefusal = Literal["rejected_valid", "accepted_invalid"]
WRONG_REFUSALS: tuple[WrongRefusal, ...] = get_args(WrongRefusal)
FailingVerdict = Literal["crash", "timeout", "mismatch", WrongRefusal]
FAILING: tuple[FailingVerdict, ...] = get_args(FailingVerdict)
"""Verdicts that say that a runtime does not do what the documents say, the worst first."""
BEST_FIRST: tuple[Verdict, ...] = (
    "pass",
    "observed",
    "unsupported",
    "not_run",
    "limit",
    "document",
    "inexact",
    *reversed(FAILING),
    "harness_error",
)
ACCEPTED_INVALID: Final = "accepted_invalid"
HARNESS_ERROR: Final = "harness_error"
NOT_RUN: Final = "not_run"
REJECTED_VALID: Final = "rejected_valid"


LOST: tuple[Literal["crash", "timeout"], ...] = ("crash", "timeout")
"""Verdicts of calls that cost their caller the process."""


COMPARED: tuple[Verdict, ...] = ("pass", "mismatch", "inexact")
"""Verdicts of answers whose values were held against what is expected."""


HOLDING: tuple[Verdict, ...] = ("pass", "observed")
"""Verdicts of cases that do what is demanded of them."""


NOT_JUDGED: tuple[Verdict, ...] = (HARNESS_ERROR, NOT_RUN)
"""Verdicts of cases of which nothing came that could be judged."""


UNCOUNTED: tuple[Verdict, ...] = ("limit", *NOT_JUDGED)
"""Verdicts that say nothing of a runtime."""


BESIDE: tuple[Literal["inexact", "document"], ...] = ("inexact", "document")
"""Verdicts of answers that stand beside the failures, each with its cause: they blame nobody."""


DIFFERENT: tuple[Verdict, ...] = (*FAILING, *BESIDE, "limit")
"""Whatever shows that a program does not do what the reference does."""


WORST_FIRST: tuple[str, ...] = (*FAILING, *BESIDE, *UNCOUNTED, "unsupported", "observed", "pass")
"""Every verdict, in the order in which lists have them."""


_TELLING_FIRST = (*FAILING, "inexact", "pass", "document", "unsupported", "observed", *UNCOUNTED)
"""Every verdict, the one first that cells with several are marked with."""


@dataclass(frozen=True)
class VerdictGroup:
    """Verdicts that mean the same to a reader, under one heading."""

    heading: str
    verdicts: tuple[str, ...]


ALWAYS = ("pass", *FAILING)
"""Verdicts that are counted on every page, also where no case has them."""


GROUPS = (
    VerdictGroup("as the documents say", ("pass",)),
    VerdictGroup("not as the documents say", FAILING),
    VerdictGroup("less exact than the table", ("inexact",)),
    VerdictGroup("open in the documents", ("document",)),
    VerdictGroup("the runtime says it cannot", ("unsupported",)),
    VerdictGroup("nothing demanded", ("observed",)),
    VerdictGroup("not counted", UNCOUNTED),
)


_WORDS = {"document": "open in the documents", "limit": "ended by a limit of opcert"}


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """A case's verdict from those of its rows; raises ValueError on none."""
    return max(verdicts, key=BEST_FIRST.index)


def word(verdict: str) -> str:
    """A verdict as people read it: `rejected valid`, `open in the documents`."""
    return _WORDS.get(verdict) or verdict.replace("_", " ")


def short_word(verdict: str) -> str:
    """A verdict in a narrow cell: `rejected`, `accepted`."""
    return verdict.replace("_", " ").removesuffix(" valid").removesuffix(" invalid")


def count_failing(counts: Mapping[str, int]) -> int:
    """How many of the counted cases fail."""
    return sum(counts.get(verdict, 0) for verdict in FAILING)


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
        """How many fail."""
        return count_failing(self.counts)

    @property
    def mark(self) -> str:
        """The worst verdict of what fails; where nothing does, what most describes the cases."""
        return next((verdict for verdict in _TELLING_FIRST if self.counts.get(verdict)), NOT_RUN)

    @property
    def told(self) -> str:
        """Every count in words, the worst first."""
        return ", ".join(
            f"{self.counts[verdict]:,} {word(verdict)}" for verdict in WORST_FIRST if self.counts.get(verdict)
        )

    @property
    def decided(self) -> int:
        """How many were decided: they pass or fail."""
        return self.passing + self.failing

    @property
    def inexact(self) -> int:
        """How many are right, and less exact than the table of functions."""
        return self.counts.get("inexact", 0)

    @property
    def open(self) -> int:
        """How many are as one passage of the document says and another one denies, or as it leaves open."""
        return self.counts.get("document", 0)

    @property
    def unsupported(self) -> int:
        return self.counts.get("unsupported", 0)

    @property
    def observed(self) -> int:
        """How many demand nothing but survival, and survived."""
        return self.counts.get("observed", 0)
