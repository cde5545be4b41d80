"""Causes that experiments show: the cores of failing cases, and which cases have one core."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import DiagnosedCause, Needed, Outcome
from generator.asking.calls import Call
from generator.diagnosis.laboratory import Laboratory
from generator.diagnosis.laboratory import Outcome as Tried
from generator.diagnosis.one_factor import LEFT_OUT, Changed, is_crisp, others, plainest, value_of
from generator.diagnosis.taking_apart import Core
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

    def is_in(self, space: Space, call: Call, failure: Failure, cures: Collection[str]) -> bool:
        """Whether a case that passes with each of these factors made plain alone has just this cause.

        With a value of which the core shows nothing it must fail as the core does.
        """
        crisp = {each.factor: each for each in self.core.crisp if is_crisp(each.factor)}
        if not crisp or crisp.keys() != set(cures) or not self.may_be_in(space, call):
            return False
        shown = all(value_of(space, call, name) in (each.value, *each.fails) for name, each in crisp.items())
        return shown or failure.alike(self.core.failure)

    def takes(self, core: Core) -> bool:
        """Whether another core has the same factors, with values that agree."""
        own, theirs = _factors(self.core), _factors(core)
        both = own.keys() & theirs.keys()
        if not _agree(own, theirs, strictly=True):
            return False
        shown = all(
            theirs[name].value in (own[name].value, *own[name].fails) or own[name].value in theirs[name].fails
            for name in both
        )
        if not shown and not self.core.failure.alike(core.failure):
            return False
        if not all(map(is_crisp, own)):
            return self.core.failure.how == core.failure.how and own.keys() == theirs.keys()
        return (own.keys() - both) <= core.unclear and (theirs.keys() - both) <= self.core.unclear

    def is_like(self, other: Shown) -> bool:
        """Whether both have the same factors, one fails with the other's values, and results look the same.

        That a further value is right may be by chance; so may be that it is wrong, unless it is so alike.
        """
        own, theirs = _factors(self.core), _factors(other.core)
        if own.keys() != theirs.keys() or not _agree(own, theirs, strictly=False):
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
        if not nested or not _agree(own, theirs, strictly=True):
            return False
        return own.keys() - theirs.keys() <= set(other.core.free) or bool(self.patterns & other.patterns)

    def is_as(self, other: Shown) -> bool:
        """Whether both need a type of their first input alone, and the same types, of different operators."""
        if len(self.core.crisp) != 1 or len(other.core.crisp) != 1:
            return False
        (own,), (theirs,) = self.core.crisp, other.core.crisp
        first = [f"type of {each.core.call.inputs[0][0]}" for each in (self, other)]
        if [own.factor, theirs.factor] != first or not self.patterns & other.patterns:
            return False
        fails, cures = {own.value, *own.fails}, set(own.cures)
        others, mended = {theirs.value, *theirs.fails}, set(theirs.cures)
        return bool(fails & others) and not fails & mended and not others & cures

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
    for changed in _changes(space, call, needed):
        found = laboratory.outcome(space, case, 0, changed)
        yield found
        if found.passes or found.failure is not None:
            return


def _changes(space: Space, call: Call, needed: Needed) -> Iterator[Changed]:
    """The call with the factor at a curing value; signs, elements and lengths at any plain one."""
    of_factor = [
        each for each in (*plainest(space, call), *others(space, call)) if each.factor == needed.factor
    ]
    exact = [each for each in of_factor if each.to in needed.cures]
    yield from exact
    if not exact and (needed.factor.startswith("signs of ") or not is_crisp(needed.factor)):
        yield from of_factor
