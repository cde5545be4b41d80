"""Causes that experiments show: the cores of failing cases, and which cases have one core."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import DiagnosedCause, Needed, Outcome
from generator.asking.calls import Call
from generator.exploring.diagnosis.cores_alike import (
    agree,
    alike,
    apart,
    cured,
    factors_of,
    fails_with,
    same_elements,
)
from generator.exploring.diagnosis.elements_asked import loses_elements, needs_special
from generator.exploring.diagnosis.laboratory import Laboratory
from generator.exploring.diagnosis.one_factor import (
    is_crisp,
    value_of,
)
from generator.exploring.diagnosis.taking_apart import FailureCore
from generator.exploring.fuzzing.finds import call_lines
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import CallValidity


@dataclass(eq=False)
class Shown:
    """A cause: its core, the case that it was found in, and the cases that have it.

    `losing` says what was seen of its cases by `loses_elements`.
    """

    core: FailureCore
    case: str
    told: bool = False
    cases: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    without: dict[str, Outcome] = field(default_factory=dict)
    patterns: set[str] = field(default_factory=set)
    losing: set[bool] = field(default_factory=set)

    def add(self, case: str, failure: CallFailure, without: Outcome, *, confirmed: bool = False) -> None:
        """Put a case to the cause, with what becomes of it without it."""
        self.cases.append(case)
        self.without[case] = without
        if confirmed:
            self.confirmed.append(case)
        if failure.pattern:
            self.patterns.add(failure.pattern)

    def copy(self) -> Shown:
        """Another one with the same cases, which may take over more."""
        return replace(
            self,
            cases=list(self.cases),
            confirmed=list(self.confirmed),
            without=dict(self.without),
            patterns=set(self.patterns),
            losing=set(self.losing),
        )

    def include(self, other: Shown) -> None:
        """Take over the cases of another one."""
        self.cases += other.cases
        self.confirmed += other.confirmed
        self.without.update(other.without)
        self.patterns |= other.patterns
        self.losing |= other.losing

    @property
    def typed(self) -> Needed | None:
        """The type of the first input, where it is the one factor that the cause needs."""
        crisp = self.core.crisp
        if len(crisp) == 1 and crisp[0].factor == f"type of {self.core.call.inputs[0][0]}":
            return crisp[0]
        return None

    @property
    def loses(self) -> bool | None:
        """Whether all cases lose elements that other types hold, as far as that was seen."""
        return None if not self.losing else all(self.losing)

    def ask_what_is_lost(
        self, laboratory: Laboratory, space: CallValidity, case: str, call: Call, failure: CallFailure
    ) -> None:
        """Ask of a case that hangs on a type alone whether elements are lost or computed wrongly."""
        if self.typed is not None and self.loses is not False:
            found = loses_elements(laboratory, space, case, call, failure)
            self.losing |= set() if found is None else {found}

    def may_be_in(self, space: CallValidity, call: Call) -> bool:
        """Whether no needed factor has a value in the call with which the core passes, or might."""
        core = self.core
        return all(
            alike(value_of(space, call, each.factor), each) for each in core.crisp if is_crisp(each.factor)
        ) and all(
            value_of(space, call, name) == value_of(core.space, core.call, name)
            for name in core.unclear
            if is_crisp(name)
        )

    def is_in(
        self,
        laboratory: Laboratory,
        space: CallValidity,
        call: Call,
        failure: CallFailure,
        cures: Collection[str],
    ) -> bool:
        """Whether a case that passes with each of these factors made plain alone has just this cause.

        A value of which the core shows nothing is tried on it; where that says nothing, the case must fail
        as the core does. Raises Exhausted.
        """
        crisp = {each.factor: each for each in self.core.crisp if is_crisp(each.factor)}
        if not crisp or crisp.keys() != set(cures) or not self.may_be_in(space, call):
            return False
        found = self._fails_with_those_of(laboratory, FailureCore(space, call, failure, (), ()), crisp)
        if found is False or (found is None and not failure.alike(self.core.failure)):
            return False
        if not self.core.special and not failure.special:
            return True
        special = needs_special(laboratory, space, self.case, call, failure)
        return {self.core.special, special} != {True, False}

    def takes(self, laboratory: Laboratory, core: FailureCore) -> bool:
        """Whether another core has the same factors, with values that agree.

        A value of which neither shows anything is tried. Raises Exhausted.
        """
        own, theirs = factors_of(self.core), factors_of(core)
        both = own.keys() & theirs.keys()
        if not agree(own, theirs, strictly=True):
            return False
        found = self._fails_with_those_of(laboratory, core, filter(is_crisp, both))
        if found is False or (found is None and not self.core.failure.alike(core.failure)):
            return False
        if not all(map(is_crisp, own)):
            return own.keys() == theirs.keys() and same_elements(self.core, core)
        if apart(self.core, core):
            return False
        return (own.keys() - both) <= core.unclear and (theirs.keys() - both) <= self.core.unclear

    def _fails_with_those_of(
        self, laboratory: Laboratory, other: FailureCore, factors: Iterable[str]
    ) -> bool | None:
        """Whether the core fails with the other one's values of factors; else, that one with the core's."""
        own, theirs = factors_of(self.core), factors_of(other)
        unknown = False
        for name in factors:
            value = value_of(other.space, other.call, name)
            found = fails_with(laboratory, self.core, self.case, own[name], value)
            if found is None:
                there = theirs.get(name, Needed(name, value, (), ()))
                found = fails_with(laboratory, other, self.case, there, own[name].value)
            if found is False:
                return False
            unknown = unknown or found is None
        return None if unknown else True

    def is_like(self, other: Shown) -> bool:
        """Whether both have the same factors, one fails with the other's values, and results look the same.

        That a further value is right may be by chance; so may be that it is wrong, unless it is so alike.
        """
        own, theirs = factors_of(self.core), factors_of(other.core)
        if own.keys() != theirs.keys() or not agree(own, theirs, strictly=False):
            return False
        if apart(self.core, other.core):
            return False
        hows = {self.core.failure.how, other.core.failure.how}
        return bool(self.patterns & other.patterns) or hows in ({"shape"}, {"type"}, {"count"})

    def is_part_of(self, other: Shown) -> bool:
        """Whether it needs what the other one needs, and more that makes no difference there.

        The further factors may have any value in the other one, or are how a call comes to what that needs:
        then wrong results of both look the same.
        """
        own, theirs = factors_of(self.core), factors_of(other.core)
        alike = self.core.failure.alike(other.core.failure)
        nested = theirs.keys() < own.keys() and all(map(is_crisp, own)) and alike
        if not nested or not agree(own, theirs, strictly=True) or apart(self.core, other.core):
            return False
        if any(set(own[name].fails) & set(theirs[name].cures) for name in theirs):
            return False
        return own.keys() - theirs.keys() <= set(other.core.free) or bool(self.patterns & other.patterns)

    def outcome_without(self, laboratory: Laboratory, space: CallValidity, case: str, call: Call) -> Outcome:
        """What becomes of a case with one needed factor changed: the best that was seen; raises Exhausted."""
        found: Outcome = "unknown"
        for each in self.core.crisp:
            for one in cured(laboratory, space, case, call, each):
                if one.passes:
                    return "pass"
                if one.word == "unsupported":
                    found = "unsupported"
                elif one.failure is not None and found == "unknown":
                    found = "fails"
        return found

    def kept(self) -> DiagnosedCause:
        """The same as it is written down."""
        return DiagnosedCause(
            self.told,
            tuple(self.cases),
            self.case,
            tuple(call_lines(self.core.call)),
            self.core.failure.reason,
            self.core.needed,
            self.core.beside,
            self.core.free,
            tuple(self.confirmed),
            {case: self.without.get(case, "unknown") for case in self.cases},
        )
