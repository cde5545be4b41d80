"""Causes that experiments show: the cores of failing cases, and which cases have one core."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import DiagnosedCause, Needed, Outcome
from generator.asking.calls import Call
from generator.diagnosis.laboratory import Laboratory
from generator.diagnosis.laboratory import Outcome as Tried
from generator.diagnosis.one_factor import (
    LEFT_OUT,
    is_crisp,
    value_of,
    with_value,
)
from generator.diagnosis.taking_apart import Core, changes_of, fails_of_it, needs_special
from generator.fuzzing.finds import call_lines
from generator.fuzzing.judged_calls import Failure
from generator.fuzzing.known_space import Space


@dataclass(eq=False)
class Shown:
    """A cause: its core, the case that it was found in, and the cases that have it."""

    core: Core
    case: str
    told: bool = False
    cases: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    without: dict[str, Outcome] = field(default_factory=dict)
    patterns: set[str] = field(default_factory=set)

    def add(self, case: str, failure: Failure, without: Outcome, *, confirmed: bool = False) -> None:
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
        )

    def include(self, other: Shown) -> None:
        """Take over the cases of another one."""
        self.cases += other.cases
        self.confirmed += other.confirmed
        self.without.update(other.without)
        self.patterns |= other.patterns

    def may_be_in(self, space: Space, call: Call) -> bool:
        """Whether no needed factor has a value in the call with which the core passes, or might."""
        core = self.core
        return all(
            _alike(value_of(space, call, each.factor), each) for each in core.crisp if is_crisp(each.factor)
        ) and all(
            value_of(space, call, name) == value_of(core.space, core.call, name)
            for name in core.unclear
            if is_crisp(name)
        )

    def is_in(
        self, laboratory: Laboratory, space: Space, call: Call, failure: Failure, cures: Collection[str]
    ) -> bool:
        """Whether a case that passes with each of these factors made plain alone has just this cause.

        A value of which the core shows nothing is tried on it; where that says nothing, the case must fail
        as the core does. Raises Exhausted.
        """
        crisp = {each.factor: each for each in self.core.crisp if is_crisp(each.factor)}
        if not crisp or crisp.keys() != set(cures) or not self.may_be_in(space, call):
            return False
        found = self._fails_with_those_of(laboratory, Core(space, call, failure, (), ()), crisp)
        if found is False or (found is None and not failure.alike(self.core.failure)):
            return False
        if not self.core.special and not failure.special:
            return True
        special = needs_special(laboratory, space, self.case, call, failure)
        return {self.core.special, special} != {True, False}

    def takes(self, laboratory: Laboratory, core: Core) -> bool:
        """Whether another core has the same factors, with values that agree.

        A value of which neither shows anything is tried. Raises Exhausted.
        """
        own, theirs = _factors(self.core), _factors(core)
        both = own.keys() & theirs.keys()
        if not _agree(own, theirs, strictly=True):
            return False
        found = self._fails_with_those_of(laboratory, core, filter(is_crisp, both))
        if found is False or (found is None and not self.core.failure.alike(core.failure)):
            return False
        if not all(map(is_crisp, own)):
            return own.keys() == theirs.keys() and _same_elements(self.core, core)
        if _apart(self.core, core):
            return False
        return (own.keys() - both) <= core.unclear and (theirs.keys() - both) <= self.core.unclear

    def _fails_with_those_of(
        self, laboratory: Laboratory, other: Core, factors: Iterable[str]
    ) -> bool | None:
        """Whether the core fails with the other one's values of factors; else, that one with the core's."""
        own, theirs = _factors(self.core), _factors(other)
        unknown = False
        for name in factors:
            value = value_of(other.space, other.call, name)
            found = _fails_with(laboratory, self.core, self.case, own[name], value)
            if found is None:
                there = theirs.get(name, Needed(name, value, (), ()))
                found = _fails_with(laboratory, other, self.case, there, own[name].value)
            if found is False:
                return False
            unknown = unknown or found is None
        return None if unknown else True

    def is_like(self, other: Shown) -> bool:
        """Whether both have the same factors, one fails with the other's values, and results look the same.

        That a further value is right may be by chance; so may be that it is wrong, unless it is so alike.
        """
        own, theirs = _factors(self.core), _factors(other.core)
        if own.keys() != theirs.keys() or not _agree(own, theirs, strictly=False):
            return False
        if _apart(self.core, other.core):
            return False
        hows = {self.core.failure.how, other.core.failure.how}
        return bool(self.patterns & other.patterns) or hows in ({"shape"}, {"type"}, {"count"})

    def is_part_of(self, other: Shown) -> bool:
        """Whether it needs what the other one needs, and more that makes no difference there.

        The further factors may have any value in the other one, or are how a call comes to what that needs:
        then wrong results of both look the same.
        """
        own, theirs = _factors(self.core), _factors(other.core)
        alike = self.core.failure.alike(other.core.failure)
        nested = theirs.keys() < own.keys() and all(map(is_crisp, own)) and alike
        if not nested or not _agree(own, theirs, strictly=True) or _apart(self.core, other.core):
            return False
        return own.keys() - theirs.keys() <= set(other.core.free) or bool(self.patterns & other.patterns)

    def outcome_without(self, laboratory: Laboratory, space: Space, case: str, call: Call) -> Outcome:
        """What becomes of a case with one needed factor changed: the best that was seen; raises Exhausted."""
        found: Outcome = "unknown"
        for each in self.core.crisp:
            for one in _cured(laboratory, space, case, call, each):
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


def _fails_with(laboratory: Laboratory, core: Core, case: str, needed: Needed, value: str) -> bool | None:
    """Whether the core of a case fails with a value of a factor; None where that cannot be said."""
    if value in (needed.value, *needed.fails):
        return True
    if value in needed.cures:
        return False
    changed = with_value(core.space, core.call, needed.factor, value)
    if changed is None:
        return None
    found = laboratory.outcome(core.space, case, 0, changed)
    if found.passes:
        return False if found.cures(laboratory.outcome(core.space, case, 0, core.call)) else None
    if not found.like(core.failure):
        return None
    return fails_of_it(laboratory, case, core, needed, value)


def _same_elements(one: Core, other: Core) -> bool:
    """Whether cores that need elements are right with the same ones, and wrong in one way with others."""
    specials = {each.failure.special for each in (one, other)}
    if one.failure.how != other.failure.how or len(specials) > 1:
        return False
    own, theirs = ({way for each in core.crisp for way in each.cures} for core in (one, other))
    return not own & other.uncured and not theirs & one.uncured


def _apart(one: Core, other: Core) -> bool:
    """Whether one of both is wrong because of NaN or an infinity, and the other one without."""
    return {one.special, other.special} == {True, False}


def _factors(core: Core) -> dict[str, Needed]:
    return {each.factor: each for each in core.crisp}


def _agree(own: Mapping[str, Needed], theirs: Mapping[str, Needed], *, strictly: bool) -> bool:
    """Whether both have factors in common, with values of which neither says that the other one is right.

    Where one of both shows that the other's value fails it is believed, unless `strictly`: that a further
    value is right may be by chance.
    """
    both = own.keys() & theirs.keys()
    return bool(both) and all(
        (not strictly and theirs[name].value in own[name].fails)
        or (not strictly and own[name].value in theirs[name].fails)
        or (_alike(theirs[name].value, own[name]) and _alike(own[name].value, theirs[name]))
        for name in both
    )


def _alike(value: str, needed: Needed) -> bool:
    """Whether a value is none with which the core passes; values of lists say nothing."""
    if value in (needed.value, *needed.fails):
        return True
    if (value == LEFT_OUT) != (needed.value == LEFT_OUT):
        return False
    return value not in needed.cures


def _cured(laboratory: Laboratory, space: Space, case: str, call: Call, needed: Needed) -> Iterator[Tried]:
    """What becomes of a call with the factor at values that cure the core, until one says something."""
    for changed in changes_of(space, call, needed):
        found = laboratory.outcome(space, case, 0, changed)
        yield found
        if found.passes or found.failure is not None:
            return
