"""Calls tried on a runtime, each once: within a number of calls and seconds, and every one noted."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import TriedCall
from conformance.judging.responses import Response
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.exploring.diagnosis.one_factor import OneFactorCall
from generator.exploring.shrinking.judged_calls import BY_VALUE, Ask, CallFailure, CallTrials
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor

INVALID = "invalid"
"""The outcome of a call that is none of the operator's: it is not asked."""
MOST_HANGS = 3
_LOOKED_AT = 64


class Exhausted(Exception):
    """The calls or seconds are used up."""


@dataclass(frozen=True)
class CallOutcome:
    """What became of a call: a verdict, or why nothing can be said; and how it fails, if it does.

    `several` says that two elements of what is expected differ.
    """

    word: str
    failure: CallFailure | None = None
    several: bool = True

    @property
    def passes(self) -> bool:
        return self.word == "pass"

    def cures(self, own: CallOutcome) -> bool:
        """Whether it passes where another call fails, and would not by chance.

        Wrong elements, or a wrong order of them, may not show where all that is expected is one element.
        """
        by_value = own.failure is not None and own.failure.how in BY_VALUE
        return self.passes and (self.several or not (by_value and own.several))

    def like(self, failure: CallFailure) -> bool:
        """Whether it fails as another call does; a wrong value may be more or less wrong."""
        if self.failure is None or self.failure.verdict != failure.verdict:
            return False
        return self.failure.alike(failure)


@dataclass(eq=False)
class Laboratory:
    """Asks a runtime about calls; the same call is asked once.

    `calls` may hold calls that were asked before: they are not asked again. `begun` is when the time began to
    count; without it that is when the first call is asked.
    """

    ask: Ask
    most_calls: int = 100_000
    seconds: float = float("inf")
    calls: list[TriedCall] = field(default_factory=list)
    begun: float | None = None
    _benches: dict[str, CallTrials] = field(default_factory=dict)
    _known: dict[str, CallOutcome] = field(default_factory=dict)
    _hangs: int = 0
    _several: bool = True

    def __post_init__(self) -> None:
        for each in self.calls:
            self._known[f"{CaseId.parse(each.case).operator}/{each.call}"] = _outcome_of(each)

    def outcome(
        self, space: CallValidity, case: str, step: int, changed: OneFactorCall | Call
    ) -> CallOutcome:
        """What becomes of a call that was made from a case; raises Exhausted."""
        call = changed if isinstance(changed, Call) else changed.call
        operator = str(space.spec.operator)
        digest = call.digest(space.spec.operator)
        key = f"{operator}/{digest}"
        found = self._known.get(key)
        if found is None:
            attempt = space.attempt(call)
            if attempt is None or attempt.breaks is not None:
                found = CallOutcome(INVALID)
            else:
                found = self._asked(space, attempt)
                factor, to = (None, None) if isinstance(changed, Call) else (changed.factor, changed.to)
                self.calls.append(_noted(TriedCall(case, step, factor, to, digest, found.word), found))
            self._known[key] = found
        return found

    def _asked(self, space: CallValidity, attempt: Attempt) -> CallOutcome:
        if len(self.calls) >= self.most_calls:
            raise Exhausted(f"{self.most_calls} calls were made")
        if self.begun is None:
            self.begun = time.monotonic()
        if time.monotonic() - self.begun >= self.seconds:
            raise Exhausted(f"{self.seconds:g} s are over")
        if self._hangs >= MOST_HANGS:
            raise Exhausted(f"{MOST_HANGS} calls had no answer in time")
        bench = self._benches.setdefault(str(space.spec.operator), CallTrials(space, self._seen))
        word, failure = bench.outcome(attempt)
        self._hangs += word == "timeout"
        return CallOutcome(word, failure, self._several)

    def _seen(self, case: Case, valid: Case | None) -> Response:
        self._several = any(_differ(each.expected) for each in case.expectations[0].outputs)
        return self.ask(case, valid)


def _noted(call: TriedCall, found: CallOutcome) -> TriedCall:
    """A call with what makes its outcome again."""
    failure = found.failure
    if failure is None:
        return replace(call, several=found.several)
    how, reason, pattern, special = failure.how, failure.reason, failure.pattern, failure.special
    noted = replace(call, how=how, reason=reason, pattern=pattern, special=special, empty=failure.empty)
    return replace(noted, several=found.several)


def _outcome_of(call: TriedCall) -> CallOutcome:
    if call.how is None:
        return CallOutcome(call.outcome, None, call.several)
    failure = CallFailure(call.outcome, call.how, call.empty, call.reason, call.pattern, call.special)
    return CallOutcome(call.outcome, failure, call.several)


def _differ(tensor: Tensor) -> bool:
    return len(set(tensor.array.reshape(-1)[:_LOOKED_AT].tolist())) > 1
