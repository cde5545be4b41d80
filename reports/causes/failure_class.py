"""A failure class: failing cases of one cause, as far as that is known, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.judging.kept_diagnosis import DiagnosedCause
from conformance.judging.known_causes import KnownCause
from conformance.judging.verdicts import (
    ACCEPTED_INVALID,
    BESIDE,
    LOST,
    REJECTED_VALID,
    WRONG_REFUSALS,
    WrongRefusal,
)
from conformance.recording.rows import Result
from conformance.suite.where_shown import ORDER, Shows, first_shown
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from reports.causes.conditions import Condition
from reports.causes.operator_use import Use, use_of
from reports.results.case_results import CaseResult
from reports.results.others import Beside, nobody_passes
from reports.text.value_text import type_rank

Kind = Literal["crash", "timeout", "shape", "values", WrongRefusal, "inexact", "document"]


@dataclass(frozen=True)
class Tier:
    """A group of classes that stand together in the order to fix, and why they stand there."""

    heading: str
    why: str


_LOST = Tier("Process lost", "the caller loses everything, whatever it was doing")
_SHAPE = Tier("Wrong shape or type", "every later operator gets the wrong thing, silently")
_VALUES = Tier("Wrong values", "silent: nobody notices that they are wrong")
_REFUSED = Tier("Valid input rejected", "loud, but a model that should run does not")
_ACCEPTED = Tier("Invalid input accepted", "a broken model seems to work")
INEXACT = Tier(
    "Less exact", "right, with larger errors than the table of functions allows; ONNX states no accuracy"
)
UNEXPLAINED = Tier("Unexplained", "nothing known, said or tried tells what these cases have in common")
NOBODY = Tier(
    "Passed by nobody", "no runtime that was tried passes one of these: the rule may be the odd one"
)
OPEN = Tier(
    "Open in the documents", "the document is wrong there, or may be read so: no fault of the runtime"
)
SHOWN: Mapping[Shows, Tier] = {
    "ordinary": Tier("On ordinary data", "common types, numbers and options: what models have"),
    "wide": Tier(
        "On wide integers or uncommon types alone", "integers from 2^24 on, double, bfloat16, texts"
    ),
    "special": Tier("On special values alone", "NaN, infinities, zeros below zero, or results that are such"),
    "extremes": Tier(
        "On nothing or extremes alone", "empty tensors, very small or great numbers, options of training"
    ),
    "invalid": Tier("On invalid calls alone", "a right model has none"),
}
"""Where a cause shows, in the order of how many meet it."""
TIERS = (_LOST, _SHAPE, _VALUES, _REFUSED, _ACCEPTED, UNEXPLAINED, NOBODY, INEXACT, OPEN)
TIER_OF: Mapping[Kind, Tier] = {
    "crash": _LOST,
    "timeout": _LOST,
    "shape": _SHAPE,
    "values": _VALUES,
    REJECTED_VALID: _REFUSED,
    ACCEPTED_INVALID: _ACCEPTED,
    "inexact": INEXACT,
    "document": OPEN,
}
VERBS: Mapping[Kind, str] = {
    "crash": "crashes",
    "timeout": "no answer in time",
    "shape": "wrong shape or type",
    "values": "wrong",
    REJECTED_VALID: "rejects valid input",
    ACCEPTED_INVALID: "accepts invalid input",
    "inexact": "less exact",
    "document": "open in the documents",
}

GROUPS: tuple[Tier, ...] = (*SHOWN.values(), NOBODY, INEXACT, OPEN)
"""The headings of causes in their order, where it is known on what each shows."""


def shows_rank(shows: Shows | None) -> int:
    """The place of where something shows among the others; what nobody knows comes last."""
    return len(ORDER) if shows is None else ORDER.index(shows)


DIFFERENCES = {"shape": "shape", "type": "element type", "count": "number of outputs", "": "output"}


def failure_kind(case: CaseResult) -> Kind | None:
    """In which way a case fails or stands beside the failures; None where it does neither."""
    if case.verdict == "mismatch":
        return "shape" if case.wrong_shape else "values"
    if case.verdict in LOST or case.verdict in WRONG_REFUSALS or case.verdict in BESIDE:
        return case.verdict
    return None


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
            others = [_kinds_of_outputs(row) for row in rows]
            if others and all(others):
                kinds = set().union(*others)
                return f"output is {kinds.pop()}" if len(kinds) == 1 else "output of the wrong kind"
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


def _kinds_of_outputs(row: Result) -> set[str]:
    """What a row has in place of a tensor, sequence, optional or map: `a list`, `None`."""
    if row.difference != "type":
        return set()
    named = [str(each["not_a_tensor"]) for each in row.outputs if "not_a_tensor" in each]
    kinds = {one_line(each, 60) for each in named}
    return {
        "None" if kind == "NoneType" else f"{'an' if kind[:1] in 'aeio' else 'a'} {kind}" for kind in kinds
    }


def shown_order(case: CaseResult) -> tuple[int, Smallness]:
    """Orders cases from the one to show first: the most ordinary, then the smallest."""
    return shows_rank(case.shows), smallness(case)


def smallness(case: CaseResult) -> Smallness:
    """Orders cases from small to large, and those of one size by how common their element type is."""
    return case.size, type_rank(case.element_type), str(case.id)


def marked_features(found: FailureClass) -> frozenset[str]:
    """The names that a class's conditions speak of, so that a case can mark them."""
    return frozenset(condition.feature for condition in found.conditions or ())
