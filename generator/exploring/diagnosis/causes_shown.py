"""Causes that experiments show: the cores of failing cases, and which cases and cores are of one cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import DiagnosedCause, Needed, Outcome
from generator.asking.calls import Call
from generator.exploring.diagnosis.laboratory import CallOutcome, Laboratory
from generator.exploring.diagnosis.taking_apart import (
    FailureCore,
    changes_of,
    fails_of_it,
    loses_elements,
    needs_special,
)
from generator.exploring.fuzzing.finds import call_lines
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.one_factor import LEFT_OUT, is_crisp, value_of, with_value


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
        if len(crisp) == 1 and crisp[0].factor == f"type of {self.core.call.first[0]}":
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
            _alike(value_of(space, call, needed.factor), needed)
            for needed in core.crisp
            if is_crisp(needed.factor)
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
        crisp = {needed.factor: needed for needed in self.core.crisp if is_crisp(needed.factor)}
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
        own, theirs = _factors_of(self.core), _factors_of(core)
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
        self, laboratory: Laboratory, other: FailureCore, factors: Iterable[str]
    ) -> bool | None:
        """Whether the core fails with the other one's values of factors; else, that one with the core's."""
        own, theirs = _factors_of(self.core), _factors_of(other)
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
        own, theirs = _factors_of(self.core), _factors_of(other.core)
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
        own, theirs = _factors_of(self.core), _factors_of(other.core)
        alike = self.core.failure.alike(other.core.failure)
        nested = theirs.keys() < own.keys() and all(map(is_crisp, own)) and alike
        if not nested or not _agree(own, theirs, strictly=True) or _apart(self.core, other.core):
            return False
        if any(set(own[name].fails) & set(theirs[name].cures) for name in theirs):
            return False
        return own.keys() - theirs.keys() <= set(other.core.free) or bool(self.patterns & other.patterns)

    def outcome_without(self, laboratory: Laboratory, space: CallValidity, case: str, call: Call) -> Outcome:
        """What becomes of a case with one needed factor changed: the best that was seen; raises Exhausted."""
        found: Outcome = "unknown"
        for needed in self.core.crisp:
            for one in _cured(laboratory, space, case, call, needed):
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


def _fails_with(
    laboratory: Laboratory, core: FailureCore, case: str, needed: Needed, value: str
) -> bool | None:
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


def _same_elements(one: FailureCore, other: FailureCore) -> bool:
    """Whether cores that need elements are right with the same ones, and wrong in one way with others."""
    specials = {failure_core.failure.special for failure_core in (one, other)}
    if one.failure.how != other.failure.how or len(specials) > 1:
        return False
    own, theirs = ({way for needed in core.crisp for way in needed.cures} for core in (one, other))
    return not own & other.uncured and not theirs & one.uncured


def _apart(one: FailureCore, other: FailureCore) -> bool:
    """Whether one of both is wrong because of NaN or an infinity, and the other one without."""
    return {one.special, other.special} == {True, False}


def _factors_of(core: FailureCore) -> dict[str, Needed]:
    return {needed.factor: needed for needed in core.crisp}


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


def _cured(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, needed: Needed
) -> Iterator[CallOutcome]:
    """What becomes of a call with the factor at values that cure the core, until one says something."""
    for changed in changes_of(space, call, needed):
        found = laboratory.outcome(space, case, 0, changed)
        yield found
        if found.passes or found.failure is not None:
            return


def put_together_by_type(shown: Sequence[Shown]) -> list[Shown]:
    """The causes, in their order, those that hang on the same types of their first inputs alone put together.

    Those of which most types were tried come first. One that fits several is put to the one that says least
    of types that it was not tried with itself: an operator that takes few types would else join causes that
    differ in the others.
    """
    kept: list[Shown] = []
    for each in sorted(shown, key=_tried, reverse=True):
        fitting = [one for one in kept if _hang_on_the_same_types(one, each)]
        if fitting:
            min(fitting, key=lambda one: _fails_beyond(one, each)).include(each)
        else:
            kept.append(each)
    return [each for each in shown if each in kept]


def _hang_on_the_same_types(one: Shown, other: Shown) -> bool:
    """Whether both need a type of their first input alone, share one that fails, and contradict nowhere.

    What loses elements alone is not what computes wrongly with those that it cannot lose.
    """
    own, theirs = one.typed, other.typed
    if own is None or theirs is None or not one.patterns & other.patterns:
        return False
    if {one.loses, other.loses} == {True, False}:
        return False
    fails, others = _fails(own), _fails(theirs)
    return bool(fails & others) and not fails & set(theirs.cures) and not others & set(own.cures)


def _fails(needed: Needed) -> set[str]:
    return {needed.value, *needed.fails}


def _tried(shown: Shown) -> int:
    return sum(len(_fails(needed)) + len(needed.cures) for needed in shown.core.crisp)


def _fails_beyond(one: Shown, other: Shown) -> int:
    """With how many types the first one fails that the other one was not tried with."""
    own, theirs = one.typed, other.typed
    assert own is not None
    assert theirs is not None
    return len(_fails(own) - _fails(theirs))
