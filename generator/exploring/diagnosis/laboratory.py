"""Calls tried on a runtime, each once: within a number of calls and seconds, and every one noted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import TriedCall
from conformance.judging.responses import Response
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.exploring.shrinking.judged_calls import BY_VALUE, Ask, Budget, CallFailure, CallTrials
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.one_factor import OneFactorCall
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor

INVALID = "invalid"
"""The outcome of a call that is none of the operator's: it is not asked."""
MOST_HANGS = 3
_LOOKED_AT = 64


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

    `calls` may hold calls that were asked before: they are not asked again, and count for the budget.
    """

    ask: Ask
    budget: Budget = field(default_factory=lambda: Budget(hangs=MOST_HANGS))
    calls: list[TriedCall] = field(default_factory=list)
    _known: dict[str, CallOutcome] = field(default_factory=dict)
    _several: bool = True

    def __post_init__(self) -> None:
        self.budget.spent = len(self.calls)
        for call in self.calls:
            self._known[f"{CaseId.parse(call.case).operator}/{call.call}"] = _outcome_of(call)

    def outcome(
        self, space: CallValidity, case: str, step: int, changed: OneFactorCall | Call
    ) -> CallOutcome:
        """What becomes of a call that was made from a case; raises Exhausted."""
        call = changed if isinstance(changed, Call) else changed.call
        digest = call.digest(space.spec.operator)
        key = f"{space.spec.operator}/{digest}"
        found = self._known.get(key)
        if found is None:
            attempt = space.attempt(call)
            if attempt is None or attempt.breaks is not None:
                found = CallOutcome(INVALID)
            else:
                trials = CallTrials(space, self._seen, budget=self.budget)
                found = CallOutcome(*trials.outcome(attempt), self._several)
                factor, to = (None, None) if isinstance(changed, Call) else (changed.factor, changed.to)
                self.calls.append(_noted(TriedCall(case, step, factor, to, digest, found.word), found))
            self._known[key] = found
        return found

    def _seen(self, case: Case, valid: Case | None) -> Response:
        self._several = any(_differ(output.expected) for output in case.expectations[0].outputs)
        return self.ask(case, valid)


def _noted(call: TriedCall, found: CallOutcome) -> TriedCall:
    """A call with what makes its outcome again."""
    call = replace(call, several=found.several)
    if found.failure is None:
        return call
    how = {name: getattr(found.failure, name) for name in ("how", "reason", "pattern", "special", "empty")}
    return replace(call, **how)


def _outcome_of(call: TriedCall) -> CallOutcome:
    if call.how is None:
        return CallOutcome(call.outcome, None, call.several)
    failure = CallFailure(call.outcome, call.how, call.empty, call.reason, call.pattern, call.special)
    return CallOutcome(call.outcome, failure, call.several)


def _differ(tensor: Tensor) -> bool:
    return len(set(tensor.array.reshape(-1)[:_LOOKED_AT].tolist())) > 1
