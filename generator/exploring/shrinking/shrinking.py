"""Making a failing call as small as it gets while it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from generator.asking.calls import Call
from generator.exploring.shrinking.judged_calls import Budget, CallFailure, CallTrials, Exhausted
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from generator.exploring.shrinking.simpler_calls import simpler, weight

MOST_TRIES = 1500
"""Calls that the runtime is given for one find."""
MOST_HANGS = 8
"""So many of them may hang: each takes as long as a call may take."""
_Kept = TypeVar("_Kept")
_Candidate = TypeVar("_Candidate")


@dataclass(frozen=True, eq=False)
class Small:
    """The smallest call found, how it fails, and how many calls were tried on the way.

    `least` says that no simpler one beside it fails; else the tries were used up.
    """

    attempt: Attempt
    failure: CallFailure
    tries: int
    least: bool


def descend(
    now: _Kept,
    beside: Callable[[_Kept], Iterable[_Candidate]],
    keep: Callable[[_Kept, _Candidate], _Kept | None],
) -> Iterator[_Kept]:
    """The way from one thing to the smallest: each is the first beside the one before that may be kept."""
    while True:
        kept = (keep(now, candidate) for candidate in beside(now))
        following = next((one for one in kept if one is not None), None)
        if following is None:
            return
        now = following
        yield now


def shrink(bench: CallTrials, attempt: Attempt, failure: CallFailure) -> Small:
    """Take the first simpler call that fails in the same way, again and again, until there is none.

    What is left of the time of the bench is the time for it.
    """
    budget = Budget(MOST_TRIES, bench.budget.seconds, MOST_HANGS, bench.budget.begun)
    trials = replace(bench, budget=budget)
    small, seen = Small(attempt, failure, 0, least=True), set[str]()

    def beside(now: Small) -> Iterator[Attempt]:
        return _candidates(bench.space, now.attempt, seen, failure.verdict == "mismatch")

    def keep(now: Small, candidate: Attempt) -> Small | None:
        found = trials.fails(candidate)
        # A call with results tells more than one without.
        if found is None or not found.like(failure) or (found.empty and not now.failure.empty):
            return None
        return replace(now, attempt=candidate, failure=found)

    try:
        for smaller in descend(small, beside, keep):
            small = smaller
    except Exhausted:
        small = replace(small, least=False)
    return replace(small, attempt=_with_neighbour(bench.space, small.attempt), tries=budget.spent)


def _candidates(
    space: CallValidity, attempt: Attempt, seen: set[str], values_tell: bool
) -> Iterator[Attempt]:
    """Simpler calls, valid or breaking the same rule, that were not seen yet."""
    now = weight(attempt.call)
    for call in simpler(space, attempt.call, values_tell=values_tell):
        if weight(call) >= now:
            continue
        digest = call.digest(space.spec.operator)
        if digest in seen:
            continue
        seen.add(digest)
        found = space.attempt(call, attempt.made_from)
        if found is not None and found.breaks is attempt.breaks:
            yield found


def _with_neighbour(space: CallValidity, attempt: Attempt) -> Attempt:
    """A broken call beside a valid one that differs in a single attribute or input, if there is one."""
    if attempt.breaks is None or attempt.made_from is None:
        return attempt
    for each in _with_one_thing_of(attempt.call, attempt.made_from):
        found = space.attempt(each)
        if found is not None and found.breaks is None:
            return replace(attempt, made_from=found.call)
    return attempt


def _with_one_thing_of(call: Call, other: Call) -> Iterator[Call]:
    for name in {**call.attributes, **other.attributes}:
        yield call.with_attribute(name, other.attributes.get(name))
    for name in {**dict(call.inputs), **dict(other.inputs)}:
        yield call.with_input(name, dict(other.inputs).get(name))
