"""Trying one call on a runtime: the reference is asked what must come out, and the judge whether it did."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Crashed, Refused, Response, TimedOut, WorkerFailed
from conformance.judging.signatures import signature
from conformance.judging.verdicts import FAILING, HARNESS_ERROR
from conformance.suite.cases import Case, Expectation
from conformance.suite.values import JsonNumber
from generator.asking.answered_outputs import asked_answers
from generator.asking.bare_cases import first_type, output_types
from generator.asking.calls import Call
from generator.asking.expectations import expect, expectation_of
from generator.asking.given_inputs import arguments_of, output_names
from generator.asking.validity import find_refusable
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import CaseId
from reference.answers import OutsideDomain, UnstableLength

Ask = Callable[[Case, Case | None], Response]
"""A runtime: what it does with a case. The second one is the valid case that one which breaks a rule has."""

SLIGHTLY = 10.0
"""A value within so many times its allowed error is slightly wrong."""
MOST_ELEMENTS = 5000
"""Calls with more elements in their outputs are left: the reference's exact numbers take their time."""


BY_VALUE = frozenset({"value", "slightly"})
"""How calls fail whose answer has another value, much or little beyond what is allowed."""


@dataclass(frozen=True)
class CallFailure:
    """How a call fails: calls with the same verdict and the same `how` may fail of one cause.

    `how` is the signal of a crash, the kind of a difference, what a refusal says without its particulars, or
    the rule that a call breaks which was answered. `empty`: the documents define outputs without elements.
    `pattern` is what wrong outputs look like; `special` what the worst element is (NaN, infinity, number)
    where another of these is expected.
    """

    verdict: str
    how: str
    empty: bool = False
    reason: str = field(default="", compare=False)
    pattern: str = field(default="", compare=False)
    special: str = field(default="", compare=False)

    def like(self, other: CallFailure) -> bool:
        """Whether both may have one cause: a call without results may fail of the same as one with some."""
        return (self.verdict, self.how) == (other.verdict, other.how)

    def alike(self, other: CallFailure) -> bool:
        """Whether both fail in one way, whatever the verdict; a wrong value may be more or less wrong."""
        return self.how == other.how or {self.how, other.how} == BY_VALUE


NOTHING_SAID = frozenset({"unsupported", "undefined", "unstable", "too large", HARNESS_ERROR})
"""Outcomes that say neither that the runtime is right nor that it is wrong."""


class Exhausted(Exception):
    """The calls or seconds of a budget are used up."""


@dataclass(eq=False)
class Budget:
    """How many calls may be asked, in how many seconds, and how many of them without an answer in time.

    `begun` is when the time began to count; without it that is when the first call is asked.
    """

    calls: int | None = None
    seconds: float = math.inf
    hangs: int | None = None
    begun: float | None = None
    spent: int = 0
    hung: int = 0

    def check(self) -> None:
        """Raises Exhausted where no call is left."""
        if self.calls is not None and self.spent >= self.calls:
            raise Exhausted(f"{self.calls} calls were made")
        if self.begun is None:
            self.begun = time.monotonic()
        if time.monotonic() - self.begun >= self.seconds:
            raise Exhausted(f"{self.seconds:.3g} s are over")
        if self.hangs is not None and self.hung >= self.hangs:
            raise Exhausted(f"{self.hangs} calls had no answer in time")

    def spend(self) -> None:
        """Take one call; raises Exhausted where none is left."""
        self.check()
        self.spent += 1


@dataclass(eq=False)
class CallTrials:
    """Tries calls of one operator on one runtime, and counts what became of them in `counts`.

    The words counted are verdicts, and `undefined` (no document defines a result, though no rule says so),
    `unstable` (the output's shape hangs on rounding) and `too large`.
    """

    space: CallValidity
    ask: Ask
    counts: Counter[str] = field(default_factory=Counter)
    mistakes: list[str] = field(default_factory=list)
    """What failed on our side."""
    failed: list[str] = field(default_factory=list)
    """What the worker said of its own failures."""
    budget: Budget = field(default_factory=Budget)

    def fails(self, attempt: Attempt) -> CallFailure | None:
        """How the runtime fails on a call; None where it does not, or nothing can be said; as `outcome`."""
        return self.outcome(attempt)[1]

    def outcome(self, attempt: Attempt) -> tuple[str, CallFailure | None]:
        """What became of a call, in the word that it is counted under; and how it fails, if it does.

        Raises Exhausted.
        """
        self.budget.spend()
        word, failure = self._try(attempt)
        self.counts[word] += 1
        self.budget.hung += word == "timeout"
        return word, failure

    def _try(self, attempt: Attempt) -> tuple[str, CallFailure | None]:
        # The model of a call that breaks a rule declares the outputs of the valid one.
        valid = attempt.made_from if attempt.breaks is not None else attempt.call
        assert valid is not None
        try:
            plain = self._plain(valid)
        except UnstableLength:
            return "unstable", None
        except OutsideDomain:
            return "undefined", None
        valid_case = case_of(self.space, Attempt(valid), plain)
        if sum(output.expected.array.size for output in plain[0].outputs) > MOST_ELEMENTS:
            return "too large", None
        if attempt.breaks is None:
            try:
                return self._judge(attempt.call, valid_case, self.ask(valid_case, None))
            except UnstableLength:
                return "unstable", None
            except InternalError as error:
                if isinstance(error.__cause__, OutsideDomain):  # under some open reading
                    return "undefined", None
                raise
        case = case_of(self.space, attempt)
        response = self.ask(case, valid_case)
        judgement = judge(case, response)
        if judgement.verdict in FAILING:
            return judgement.verdict, failure_of(judgement, response, how=attempt.breaks.id)
        return self._harmless(judgement, response)

    def _judge(self, call: Call, case: Case, response: Response) -> tuple[str, CallFailure | None]:
        judgement = judge(case, response)
        if judgement.verdict == "mismatch":
            # Most answers are right under the plainest readings: the others are computed where one is not.
            judgement = judge(replace(case, expectations=self._every(call)), response)
        if judgement.verdict not in FAILING:
            return self._harmless(judgement, response)
        empty = all(output.expected.array.size == 0 for output in case.expectations[0].outputs)
        return judgement.verdict, failure_of(judgement, response, empty)

    def _harmless(self, judgement: Judgement, response: Response) -> tuple[str, None]:
        if judgement.verdict == HARNESS_ERROR:
            told = self.failed if isinstance(response, WorkerFailed) else self.mistakes
            told.append(str(judgement.reason))
        return judgement.verdict, None

    def _plain(self, call: Call) -> tuple[Expectation, ...]:
        """What must come out under the first option of every open reading."""
        values = {name: attribute.value for name, attribute in call.attributes.items()}
        names = output_names(self.space.spec, call)
        given = arguments_of(self.space.spec, call)
        answers = self.space.reference.evaluate(values, given, self.space.settled, outputs=len(names))
        return (expectation_of(asked_answers(self.space.spec, call, names, answers)),)

    def _every(self, call: Call) -> tuple[Expectation, ...]:
        return expect(self.space.spec, self.space.reference, call)


def case_of(space: CallValidity, attempt: Attempt, expectations: tuple[Expectation, ...] = ()) -> Case:
    """The case that a runtime is given."""
    call, breaks, operator = attempt.call.trimmed(), attempt.breaks, space.spec.operator
    refuse = breaks is not None and breaks.otherwise == "error"
    family = "boundary" if breaks is None else "invalid" if refuse else "survival"
    valid, refusable = attempt.made_from, None if breaks is not None else find_refusable(space.spec, call)
    return Case(
        id=CaseId(operator, family, None, call.digest(operator)),
        element_type=first_type(space.spec, call),
        attributes=dict(call.attributes),
        inputs=call.inputs,
        output_names=output_names(space.spec, call),
        outputs_asked=call.outputs is not None,
        demand="answer" if breaks is None else "refuse" if refuse else "survive",
        expectations=expectations,
        slots=call.slots,
        output_types=output_types(space.spec, call),
        constraint=None if breaks is None else breaks.id,
        may_refuse=None if refusable is None else refusable.id,
        refusal_contradicted=refusable is not None and refusable.contradicted,
        valid_case=None if valid is None else str(CaseId(operator, "boundary", None, valid.digest(operator))),
    )


def failure_of(judgement: Judgement, response: Response, empty: bool = False, how: str = "") -> CallFailure:
    """How a call fails of which the judge says so; `how` is the rule broken by one that was answered."""
    if isinstance(response, Crashed):
        how = response.signal or signature("crash", response.reason)
    elif isinstance(response, TimedOut):
        how = response.stage
    elif isinstance(response, Refused):
        how = signature(response.kind, response.message)
    elif judgement.verdict == "mismatch":
        how = _difference(judgement)
    pattern = judgement.pattern or ""
    return CallFailure(judgement.verdict, how, empty, str(judgement.reason), pattern, _special(judgement))


def _special(judgement: Judgement) -> str:
    """What the worst element is, where that is another kind of number than is expected; else empty."""
    worst = judgement.worst
    if worst is None or _kind(worst.got) == _kind(worst.expected):
        return ""
    return _kind(worst.got)


def _kind(number: JsonNumber | list[JsonNumber]) -> str:
    parts = number if isinstance(number, list) else [number]
    if "NaN" in parts:
        return "NaN"
    return "infinity" if {"Infinity", "-Infinity"} & set(map(str, parts)) else "number"


def _difference(judgement: Judgement) -> str:
    """The kind of a difference: wrong values that are hardly wrong are a kind of their own."""
    worst = judgement.worst
    if judgement.difference == "value" and worst is not None and worst.ratio is not None:
        return "slightly" if worst.ratio <= SLIGHTLY else "value"
    return str(judgement.difference)
