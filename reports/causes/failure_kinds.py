"""The ways in which a case fails, in words and in the order to fix them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.judging.verdicts import (
    ACCEPTED_INVALID,
    BESIDE,
    LOST,
    REJECTED_VALID,
    WRONG_REFUSALS,
    WrongRefusal,
)
from conformance.suite.where_shown import ORDER, Shows
from reports.results.case_results import CaseResult

Kind = Literal["crash", "timeout", "shape", "values", WrongRefusal, "inexact", "document"]


@dataclass(frozen=True)
class Tier:
    """A group of classes that stand together in the order to fix, and why they stand there."""

    heading: str
    why: str


_LOST = Tier("Process lost", "the caller loses everything, whatever it was doing")
_SHAPE = Tier("Wrong shape or type", "every later operator gets the wrong thing, silently")
_VALUES = Tier("Wrong values", "silent: nobody notices that they are wrong")
_REFUSED = Tier("Valid input refused", "loud, but a model that should run does not")
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
    REJECTED_VALID: "refuses valid input",
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
