"""One row of a record: what came of one case, in one form, one time; and what rows come to.

Every case has exactly one verdict, and every count adds up.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from sys import intern
from typing import Any, Literal

from conformance.judging.judge import Judgement
from conformance.judging.output_comparison import Worst
from conformance.judging.responses import Answered, Crashed, Refused, Response, TimedOut, WorkerFailed
from conformance.judging.verdicts import HARNESS_ERROR, NOT_JUDGED, VERDICTS, Verdict, worst_verdict
from conformance.suite.canonical import canonical_json, plain
from conformance.suite.cases import Case
from conformance.suite.properties import is_random

ResponseKind = Literal["answered", "refused", "not offered", "crashed", "timed out", "none"]


@dataclass(frozen=True, slots=True)
class Result:
    """A `result` line of a record.

    `readings` and `behaviours` hold the options under which the answer is right; `behaviour` is the latter as
    one text. `worst` has `output` (a position), `index`, `got`, `expected`, `allowed`, `ratio`, `ulps`. Each
    of `outputs` is `golden` (bit for bit the first expectation), `golden:N` (the expectation number N), or an
    object with `element_type`, `shape` and `data` (base64 of `Tensor.to_bytes`), or `sha256`, `bytes` (their
    number) and `file`, or these without `file`; or `not_a_tensor`, with the name of its type and its `text`.
    `ulps` is how far a right answer is
    off at most, in steps of the type of each element; 0 is left out, and what is beyond 2**53 stands as that.
    `answer` says which of several answers to a case these are: the first that is not right, else the first.
    `touched` is what the worker saw of memory that the run must leave alone. `kept` says that the outputs are
    those of the model before it was optimised.
    `no_number` counts elements of a right answer that are NaN or infinite where a number is expected first,
    of ordinary inputs: a reading lets them be so.
    `error` is the class of the runtime's error and `message` its text; `unsupported` the adapter's example
    that it matched. `varies` says that right answers are random, so that two of them may differ. `again` is
    what further tries of a case came to that killed its worker, each as `response` has it. `machine` names
    the machine of a cluster that ran it.
    """

    case: str
    operator: str
    family: str
    element_type: str
    form: str
    repeat: int
    verdict: Verdict
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    behaviour: str | None = None
    reason: str | None = None
    worst: Mapping[str, Any] | None = None
    outputs: tuple[Any, ...] = ()
    seconds: float = 0.0
    behaviours: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constraint: str | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    difference: str | None = None
    pattern: str | None = None
    wrong: int | None = None
    elements: int | None = None
    ulps: int | None = None
    no_number: int | None = None
    expectation: int | None = None
    stage: str | None = None
    error: str | None = None
    message: str | None = None
    unsupported: str | None = None
    signal: str | None = None
    status: int | None = None
    stderr: str | None = None
    varies: bool = False
    again: tuple[str, ...] = ()
    machine: str | None = None
    answer: str | None = None
    touched: tuple[str, ...] = ()
    kept: bool = False

    @property
    def unstable(self) -> bool:
        """Whether the case killed its worker, and not each time that it was tried again."""
        return any(each not in ("crashed", "timed out") for each in self.again)

    @property
    def worker_failed(self) -> bool:
        """Whether the worker said that its own code failed, or nothing that makes sense."""
        return self.verdict == HARNESS_ERROR and self.stage is not None

    @property
    def response(self) -> ResponseKind:
        """What came of asking the runtime; `none` where the run did not come to it.

        `not offered` is a case that was not sent: the runtime had said that it does not take it.
        """
        if self.verdict in ("crash", "limit", "timeout"):
            return "timed out" if self.verdict == "timeout" else "crashed"
        if self.verdict in NOT_JUDGED:
            return "none"
        if self.stage is not None:
            return "refused"
        return "not offered" if self.verdict == "unsupported" and not self.kept else "answered"

    def to_line(self) -> bytes:
        """The same as canonical JSON, with its newline."""
        try:
            return _ENCODER.encode(self._to_object()).encode("ascii") + b"\n"
        except (TypeError, ValueError):  # what JSON lacks
            return canonical_json(self.to_json()) + b"\n"

    def to_json(self) -> dict[str, Any]:
        """The line's object: what is always there, and of the rest what says something."""
        found: dict[str, Any] = plain(self._to_object())
        return found

    def _to_object(self) -> dict[str, Any]:
        everything = dict(zip(_NAMES, _VALUES(self), strict=True))
        kept = {name: value for name, value in everything.items() if value or name in _ALWAYS}
        kept.update({name: everything[name] for name in _NUMBERS if everything[name] is not None})
        kept["type"] = "result"
        return kept

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Result:
        """The inverse; keys of later versions are left out. Raises TypeError where one is missing."""
        known: dict[str, Any] = {name: line[name] for name in _NAMES if name in line}
        for name in _FEW:
            if type(known.get(name)) is str:
                known[name] = intern(known[name])
        for name in ("readings", "behaviours"):
            known[name] = {key: tuple(options) for key, options in known.get(name, {}).items()}
        known["outputs"] = tuple(known.get("outputs", ()))
        known["again"] = tuple(known.get("again", ()))
        known["touched"] = tuple(known.get("touched", ()))
        return cls(**known)


_NAMES = tuple(each.name for each in fields(Result))
_VALUES = attrgetter(*_NAMES)
_ALWAYS = frozenset(_NAMES[: _NAMES.index("seconds") + 1])
_FEW = (
    "operator",
    "family",
    "element_type",
    "form",
    "verdict",
    "behaviour",
    "difference",
    "pattern",
    "stage",
)
"""Texts that many rows have alike, of which one is kept in memory."""
_EXACT_IN_JSON = 1 << 53
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_NUMBERS = ("wrong", "elements", "expectation", "status")


def rounded_seconds(response: Response | None) -> float:
    """The seconds that a row states of a response."""
    return float(round(getattr(response, "seconds", 0.0), 7))


def _seen(response: Response | None) -> dict[str, Any]:
    """What a row says of the response itself."""
    seen: dict[str, Any] = {"seconds": rounded_seconds(response)}
    if isinstance(response, Refused):
        seen.update(
            stage=response.stage,
            error=response.kind or None,
            message=response.message or None,
            unsupported=response.unsupported,
        )
    elif isinstance(response, WorkerFailed):
        seen.update(stage=response.stage, error=response.kind or None, message=response.message or None)
    elif isinstance(response, Answered):
        seen.update(answer=response.told, touched=response.touched, kept=response.kept)
    elif isinstance(response, Crashed):
        seen.update(signal=response.signal, status=response.status, stderr=response.stderr or None)
    elif isinstance(response, TimedOut):
        seen.update(stage=response.stage, stderr=response.stderr or None, seconds=response.limit)
    return seen


def make_result(
    case: Case,
    form: str,
    repeat: int,
    response: Response | None,
    judgement: Judgement,
    outputs: tuple[Any, ...] = (),
    again: tuple[str, ...] = (),
    machine: str | None = None,
) -> Result:
    """The row of a judged response; `response` is None where nothing was asked of the runtime."""
    return Result(
        case=str(case.id),
        operator=str(case.operator),
        family=case.family,
        element_type=case.element_type.name,
        form=form,
        repeat=repeat,
        verdict=judgement.verdict,
        readings=judgement.readings,
        behaviour=judgement.behaviour,
        reason=judgement.reason or None,
        worst=_worst_to_json(judgement.worst),
        outputs=outputs,
        behaviours=judgement.behaviours,
        constraint=case.constraint,
        levels=case.levels,
        difference=judgement.difference,
        pattern=judgement.pattern,
        wrong=judgement.wrong,
        elements=judgement.elements,
        ulps=min(judgement.ulps, _EXACT_IN_JSON) or None,
        no_number=judgement.no_number or None,
        expectation=judgement.expectation,
        varies=is_random(case.properties),
        again=again,
        machine=machine,
        **_seen(response),
    )


def _worst_to_json(worst: Worst | None) -> dict[str, Any] | None:
    """The element as JSON has it; whole numbers beyond 2**53 are strings."""
    if worst is None:
        return None
    ulps = worst.ulps
    return {
        "output": worst.output,
        "index": list(worst.index),
        "got": worst.got,
        "expected": worst.expected,
        "allowed": plain(worst.allowed),
        "ratio": plain(worst.ratio),
        "ulps": str(ulps) if ulps is not None and ulps > _EXACT_IN_JSON else ulps,
    }


def case_verdicts(results: Iterable[Result]) -> dict[str, Verdict]:
    """Each case's verdict, the worst of its rows, in the order in which cases first appear."""
    found: dict[str, Verdict] = {}
    for row in results:
        before = found.get(row.case)
        found[row.case] = row.verdict if before is None else worst_verdict((before, row.verdict))
    return found


class CaseVerdicts:
    """The verdicts of cases that are known by their numbers, a byte for each."""

    def __init__(self) -> None:
        self._codes = bytearray()

    def add(self, number: int, verdict: Verdict) -> tuple[Verdict | None, Verdict]:
        """Let a row count: the case's verdict before, None where this is its first row, and now."""
        if number >= len(self._codes):
            self._codes.extend(bytes(number + 1 - len(self._codes)))
        code = self._codes[number]
        before = VERDICTS[code - 1] if code else None
        now = verdict if before is None else worst_verdict((before, verdict))
        self._codes[number] = VERDICTS.index(now) + 1
        return before, now

    def __iter__(self) -> Iterator[Verdict]:
        return (VERDICTS[code - 1] for code in self._codes if code)


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """How many there are of each verdict, those of which there is none included."""
    counted = Counter(verdicts)
    return {verdict: counted[verdict] for verdict in VERDICTS}


def ran(counts: Mapping[Verdict, int]) -> int:
    """How many cases tell something about the runtime: it was asked, and did not say that it cannot."""
    return sum(count for verdict, count in counts.items() if verdict not in ("unsupported", *NOT_JUDGED))
