"""A failure class: failing cases of one cause, as far as that is known, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.judging.kept_diagnosis import DiagnosedCause
from conformance.judging.known_causes import KnownCause
from conformance.judging.verdicts import BESIDE, LOST
from conformance.suite.where_shown import Shows, first_shown
from opcert.vocabulary.names import OperatorName
from reports.causes.conditions import Condition
from reports.causes.failure_kinds import (
    DIFFERENCES,
    NOBODY,
    SHOWN,
    TIER_OF,
    UNEXPLAINED,
    VERBS,
    Kind,
    Tier,
    shows_rank,
)
from reports.causes.operator_use import Use, use_of
from reports.results.case_results import CaseResult
from reports.results.others import Beside, nobody_passes
from reports.text.type_order import type_rank

Smallness = tuple[tuple[int, int, int], tuple[int, int, int], str]
Told = Literal[
    "entry",
    "either",
    "together",
    "suspected",
    "message",
    "experiment",
    "rule",
    "allowed",
    "optimisation",
    "judge",
    "association",
    "nothing",
]
"""What tells the cause of a class."""


@dataclass(frozen=True)
class FailureClass:
    """Failing cases of one cause, of one or more operator versions, that fail in one way.

    `told` says by what the cause is known: `known` is the entry, `suspects` are entries of which none was
    shown alone, `said` the runtime's own sentence, `shown` what experiments showed of it, whoever told it.
    `beside` is what other runtimes make of the cases, and `unoptimised` names a run of the same one that
    optimises less and passes them all. Where it is an association, `conditions` separate the cases
    from passing ones; of a message they are a remark; they are None where there are none. `fulfilling` counts
    the cases of those versions that were judged and fulfil the conditions; those among them that fail
    otherwise are counted in `elsewhere`, by the number of their class.
    """

    number: int
    kind: Kind
    operators: tuple[OperatorName, ...]
    conditions: tuple[Condition, ...] | None
    cases: tuple[CaseResult, ...]
    fulfilling: int = 0
    elsewhere: Mapping[int, int] | None = None
    told: Told = "association"
    known: KnownCause | None = None
    said: str = ""
    shown: DiagnosedCause | None = None
    beside: tuple[Beside, ...] = ()
    unoptimised: str = ""
    suspects: tuple[KnownCause, ...] = ()

    @property
    def entry(self) -> str:
        """The id of the entry that explains it; empty without one."""
        return "" if self.known is None else self.known.id

    @property
    def fails(self) -> bool:
        """Whether its cases fail; what is less exact, or open in the documents, stands beside these."""
        return self.kind not in BESIDE

    @property
    def blames(self) -> bool:
        """Whether it says that the runtime is wrong: its cases fail, and somebody else passes one."""
        return self.fails and self.tier is not NOBODY

    @property
    def tier(self) -> Tier:
        if not self.fails:
            return TIER_OF[self.kind]
        if nobody_passes(self.beside) and self.kind not in LOST:
            return NOBODY
        # A lost process stays at the top, explained or not.
        if self.told == "nothing" and self.kind not in LOST:
            return UNEXPLAINED
        return TIER_OF[self.kind]

    @property
    def shows(self) -> Shows | None:
        """Where it shows: as the most ordinary of its cases does; None where nobody has read them."""
        return first_shown(each.shows for each in self.cases)

    @property
    def group(self) -> Tier:
        """The heading under which it stands: where it shows; of what blames nobody, why."""
        if self.shows is None or not self.blames:
            return self.tier
        return SHOWN[self.shows]

    @property
    def use(self) -> Use:
        """How much the most used of its operators is used."""
        return use_of(self.operators)

    @property
    def brings(self) -> float:
        """How many cases pass once it is mended, as far as experiments say: of those nobody asked, as many.

        Without experiments all of them may.
        """
        without = self.shown.without if self.shown is not None else {}
        told = Counter(without.get(str(each.id), "unknown") for each in self.cases)
        asked = sum(number for outcome, number in told.items() if outcome != "unknown")
        return len(self.cases) * told["pass"] / asked if asked else len(self.cases)

    @property
    def verb(self) -> str:
        """What the cases do, as narrowly as it is true of them all."""
        rows = [each.row for each in self.cases if each.row is not None]
        if self.kind == "shape":
            differences = {row.difference for row in rows}
            return (
                f"wrong {DIFFERENCES[differences.pop() or '']}" if len(differences) == 1 else VERBS["shape"]
            )
        limits = {row.seconds for row in rows}
        if self.kind == "timeout" and len(limits) == 1:
            return f"no answer in {limits.pop():g} s"
        return VERBS[self.kind]

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that the process died of."""
        return tuple(sorted({each.row.signal for each in self.cases if each.row and each.row.signal}))

    @property
    def smallest(self) -> CaseResult:
        """Of the most ordinary cases the one with the fewest elements, attributes and dimensions."""
        return min(self.cases, key=shown_order)


def shown_order(case: CaseResult) -> tuple[int, Smallness]:
    """Orders cases from the one to show first: the most ordinary, then the smallest."""
    return shows_rank(case.shows), smallness(case)


def smallness(case: CaseResult) -> Smallness:
    """Orders cases from small to large, and those of one size by how common their element type is."""
    return case.size, type_rank(case.element_type), str(case.id)


def marked_features(found: FailureClass) -> frozenset[str]:
    """The names that a class's conditions speak of, so that a case can mark them."""
    return frozenset(each.feature for each in found.conditions or ())
