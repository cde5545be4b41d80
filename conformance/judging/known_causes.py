"""Causes that somebody has explained: what reports show of an entry, and the cases that it claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CauseKind = Literal["witness_fault", "finding", "reading", "tolerance"]

SuspicionKind = Literal["either", "together", "suspected"]

WORDS: dict[CauseKind, str] = {
    "witness_fault": "the runtime does not do what the passage says",
    "finding": "the document is wrong, not the runtime",
    "reading": "the document may be read so",
    "tolerance": "the runtime computes with fewer digits than the case asks for",
}
"""What each kind of cause says of whom. Readings and findings blame nobody."""


EQUALS = "the result equals the expected output with"
"""So begins what is shown of a cause by answers that are what its entry says."""
LONGEST_TITLE = 240


@dataclass(frozen=True)
class KnownCause:
    """An entry of a file of known disagreements, and what it claims in one run.

    `passage` are places in documents (`file:line`), `evidence` what shows it, `thread` where it was reported
    upstream. `versions` are globs over versions of the runtime that it is known to be about. `cases` and
    `faults` are the failing ones that it explains; of an entry that explains none any more, `asked` are the
    cases that it is about, which pass. `by_chance` says that these may pass in one run and fail in the next.
    `shown` says in words what shows it of wrong answers, in how many cases each.
    `short` is what one sees and when, as in a title; empty where nobody has put it so.
    """

    id: str
    kind: CauseKind
    explanation: str
    evidence: tuple[str, ...]
    passage: tuple[str, ...] = ()
    thread: str | None = None
    versions: tuple[str, ...] = ("*",)
    cases: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    by_chance: bool = False
    shown: tuple[tuple[str, int], ...] = ()
    short: str = ""

    @property
    def title(self) -> str:
        """The explanation where it is short, else its first sentence.

        Many begin with what the document says, and say then what the runtime does.
        """
        if len(self.explanation) <= LONGEST_TITLE:
            return self.explanation
        head, dot, _ = self.explanation.partition(". ")
        return head + dot.rstrip()

    @property
    def blames(self) -> bool:
        """Whether it says that the runtime is wrong."""
        return self.kind in ("witness_fault", "tolerance")


@dataclass(frozen=True)
class Suspicion:
    """Wrong answers that entries may be about, and none of which was shown for one alone.

    `either`: each of several entries reproduces them alike; `together`: all of them do it together.
    `suspected`: nobody could try them.
    """

    causes: tuple[KnownCause, ...]
    cases: tuple[str, ...]
    kind: SuspicionKind
