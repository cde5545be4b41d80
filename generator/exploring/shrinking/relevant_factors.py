"""Which of a failing call's attributes matter, and which may as well have any other value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generator.asking.calls import Call
from generator.exploring.shrinking.judged_calls import (
    NOTHING_SAID,
    Budget,
    CallFailure,
    CallTrials,
    Exhausted,
)
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from generator.exploring.shrinking.one_factor import (
    LEFT_OUT,
    TYPE,
    OneFactorCall,
    left_out,
    other_attributes,
    other_types,
    value_of,
)

ELEMENT_TYPE = "element type"
MOST_OTHERS = 16
"""Other values that are tried for one attribute."""
MOST_HANGS = 4
"""After so many calls without an answer no more values are tried."""


@dataclass(frozen=True)
class RelevantFactor:
    """One attribute (or the element type) of a failing call.

    `value` is what it has there, its default included. With the values in `fails` the call fails in the same
    way, with those in `holds` it does not.
    """

    name: str
    value: str
    fails: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()

    def covers(self, space: CallValidity, call: Call) -> bool:
        """Whether a call has the value, or one with which it fails too; of a list, whether it has any."""
        if self.is_list and self.name in call.attributes:
            return True
        return value_of(space, call, _factor_of(space, self.name)) in (self.value, *self.fails)

    @property
    def is_list(self) -> bool:
        return self.value.startswith("[")

    @property
    def decides(self) -> bool:
        """Whether another value makes the failure go away."""
        return bool(self.holds)

    def __str__(self) -> str:
        also = f", with {_either(self.fails)} too" if self.fails else ""
        if not self.decides:
            return f"{self.name} = {self.value}: any other value does as well"
        return f"{self.name} = {self.value}: matters{also}, not with {_either(self.holds)}"

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "fails": self.fails, "holds": self.holds}


def _either(values: Sequence[str]) -> str:
    shown = [*values[:6], "..."] if len(values) > 6 else list(values)
    return " or ".join(shown)


def find_relevant_factors(
    bench: CallTrials, attempt: Attempt, failure: CallFailure
) -> tuple[RelevantFactor, ...]:
    """Try other values for every attribute, one at a time.

    Those that have no other value in a call of this kind (valid, or breaking the same rule) are left out.
    """
    found: dict[str, tuple[list[str], list[str]]] = {}
    space, trials = bench.space, replace(bench, budget=Budget(hangs=MOST_HANGS))
    try:
        for changed in _others(space, attempt.call):
            other = space.attempt(changed.call, attempt.made_from)
            if other is None or other.breaks is not attempt.breaks:
                continue
            word, how = trials.outcome(other)
            # A call that fails in another way says nothing of this one.
            if word not in NOTHING_SAID and (how is None or how.like(failure)):
                fails, holds = found.setdefault(changed.factor, ([], []))
                (holds if how is None else fails).append(changed.to)
    except Exhausted:
        pass
    return tuple(
        RelevantFactor(
            _name_of(space, factor), value_of(space, attempt.call, factor), tuple(fails), tuple(holds)
        )
        for factor, (fails, holds) in found.items()
    )


def _others(space: CallValidity, call: Call) -> Iterator[OneFactorCall]:
    """The call with another element type, another value of an attribute, or without one."""
    yield from other_types(space, call, None)
    yield from other_attributes(space, call, MOST_OTHERS)
    without = (each for each in left_out(space, call) if each.factor in call.attributes)
    yield from (each for each in without if each.to == LEFT_OUT)


def _name_of(space: CallValidity, factor: str) -> str:
    """What readers call a factor: the type of the first input is that of the call."""
    if factor in (f"{TYPE}{first.name}" for first in space.spec.inputs[:1]):
        return ELEMENT_TYPE
    return f"element {factor}" if factor.startswith(TYPE) else factor


def _factor_of(space: CallValidity, name: str) -> str:
    if name == ELEMENT_TYPE:
        return f"{TYPE}{space.spec.inputs[0].name}"
    return name.removeprefix("element ") if name.startswith(ELEMENT_TYPE) else name
