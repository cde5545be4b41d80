"""Making a failing call as small as it gets while it fails in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from generator.asking.calls import Call
from generator.exploring.shrinking.judged_calls import CallFailure, CallTrials
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from generator.exploring.shrinking.plainness import weight
from generator.exploring.shrinking.reductions import simpler

MOST_TRIES = 1500
"""Calls that the runtime is given for one find."""
MOST_HANGS = 8
"""So many of them may hang: each takes as long as a call may take."""


@dataclass(frozen=True, eq=False)
class Small:
    """The smallest call found, how it fails, and how many calls were tried on the way.

    `least` says that no simpler one beside it fails; else the tries were used up.
    """

    attempt: Attempt
    failure: CallFailure
    tries: int
    least: bool


def shrink(bench: CallTrials, attempt: Attempt, failure: CallFailure) -> Small:
    """Take the first simpler call that fails in the same way, again and again, until there is none."""
    seen: set[str] = set()
    tries, hangs = 0, bench.counts["timeout"]
    while True:
        for candidate in _candidates(bench.space, attempt, seen, failure.verdict == "mismatch"):
            if tries >= MOST_TRIES or bench.counts["timeout"] - hangs >= MOST_HANGS:
                return Small(_with_neighbour(bench.space, attempt), failure, tries, least=False)
            tries += 1
            found = bench.fails(candidate)
            # A call with results tells more than one without.
            if found is not None and found.like(failure) and (failure.empty or not found.empty):
                attempt, failure = candidate, found
                break
        else:
            return Small(_with_neighbour(bench.space, attempt), failure, tries, least=True)


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
