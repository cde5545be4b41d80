"""Taking a failing call apart: everything is made plain that may be, and what is left is what it needs.

As in delta debugging, a change is kept where the call still fails in the same way. Of what is left every
factor is changed once more, alone: a value with which the call passes shows that the factor is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.judging.kept_diagnosis import Needed
from generator.asking.calls import Call
from generator.exploring.diagnosis.laboratory import CallOutcome, Laboratory
from generator.exploring.shrinking.judged_calls import CallFailure
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.one_factor import (
    ELEMENTS,
    GIVEN_AS,
    PLAIN_ELEMENTS,
    OneFactorCall,
    is_crisp,
    others,
    plainest,
    value_of,
    with_plain_elements,
    with_plain_type,
    with_value,
)
from generator.exploring.shrinking.shrinking import descend

MOST_ROUNDS = 4


@dataclass(eq=False)
class _Values:
    """What became of the values of one factor.

    `plain_cures` is whether its plainest one, if tried, cures; `telling` whether one cures that would not by
    chance.
    """

    fails: dict[str, None] = field(default_factory=dict)
    cures: dict[str, None] = field(default_factory=dict)
    plain_cures: bool = False
    telling: bool = False
    said_nothing: bool = False


@dataclass(frozen=True, eq=False)
class FailureCore:
    """What is left of a failing call, with the factors that it needs and those that do not matter.

    `needed` are factors that are not plain, and right when they are; where there are none, plain ones that
    are right with every other value; else elements. `unclear` are factors of which nothing can be
    said, because the call with another value fails in another way, or is none; `beside` are plain ones that
    the call fails with alone. With the elements of `uncured` it fails, in whatever way. `special`:
    see `needs_special`; `loses`: see `loses_elements`.
    """

    space: CallValidity
    call: Call
    failure: CallFailure
    needed: tuple[Needed, ...]
    free: tuple[str, ...]
    unclear: frozenset[str] = frozenset()
    beside: tuple[Needed, ...] = ()
    uncured: frozenset[str] = frozenset()
    special: bool | None = None
    loses: bool | None = None

    @property
    def crisp(self) -> tuple[Needed, ...]:
        """The factors with values that can be named; where there are none, the others."""
        return tuple(each for each in self.needed if is_crisp(each.factor)) or self.needed


def single_cures(
    laboratory: Laboratory, space: CallValidity, case: str, step: int, call: Call
) -> list[OneFactorCall]:
    """The changes of one crisp factor to its plainest value with which a failing call passes.

    Of a list whose signs cure it that is the signs alone, though it may be left out as well.
    """
    found = {}
    for changed in plainest(space, call):
        new = is_crisp(changed.factor) and changed.factor not in found
        if new and laboratory.outcome(space, case, step, changed).passes:
            found[changed.factor] = changed
    return [each for name, each in found.items() if f"signs of {name}" not in found]


def take_apart(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, failure: CallFailure
) -> FailureCore:
    """The core of a failing call of a case; raises Exhausted.

    What cures the call alone is not touched, and must cure what is left of it, too: else the call would
    wander from one mistake of the runtime to another.
    """
    step, seen = 0, set[tuple[str, str]]()
    held = {cure.factor for cure in single_cures(laboratory, space, case, step, call)}
    plainer = with_plain_elements(call)
    if plainer is not None:
        elements = OneFactorCall(f"{ELEMENTS} {call.first[0]}", PLAIN_ELEMENTS, plainer)
        if laboratory.outcome(space, case, step, elements).like(failure):
            # With elements that all differ, nothing is right only because what is wrong does not show.
            call, step = plainer, 1
            held = {cure.factor for cure in single_cures(laboratory, space, case, step, call)}

    def not_plain_yet(now: Call) -> Iterator[OneFactorCall]:
        touched = held | {each.removeprefix("signs of ") for each in held}
        for changed in plainest(space, now):
            if changed.factor not in touched and (changed.factor, changed.to) not in seen:
                seen.add((changed.factor, changed.to))
                yield changed

    def keep(_now: Call, changed: OneFactorCall) -> Call | None:
        nonlocal step, held
        if not laboratory.outcome(space, case, step, changed).like(failure):
            return None
        if held and not _still_cures(laboratory, space, case, step + 1, changed.call, held):
            return None
        step += 1
        held = held or {cure.factor for cure in single_cures(laboratory, space, case, step, changed.call)}
        return changed.call

    for _ in range(MOST_ROUNDS):
        before = step
        for plain in descend(call, not_plain_yet, keep):
            call = plain
        if step == before:
            break
        seen.clear()
    return _core_of(laboratory, space, case, step, call, failure)


def _core_of(
    laboratory: Laboratory, space: CallValidity, case: str, step: int, call: Call, failure: CallFailure
) -> FailureCore:
    """What each factor of a call made plain has to do with its failure; raises Exhausted."""
    left = laboratory.outcome(space, case, step, call)
    own = left.failure or failure
    values: dict[str, _Values] = {}
    uncured = set[str]()
    for changed in (*plainest(space, call), *others(space, call)):
        found = laboratory.outcome(space, case, step, changed)
        known = values.setdefault(changed.factor, _Values())
        if found.failure is not None and changed.factor.startswith(ELEMENTS):
            uncured.add(changed.to)
        if found.passes:
            known.cures[changed.to] = None
            known.plain_cures |= changed.plain
            known.telling |= found.cures(left)
        elif found.like(failure) and not _looks_otherwise(found, own):
            if not changed.to.startswith(GIVEN_AS):
                known.fails[changed.to] = None
        elif changed.plain:
            known.said_nothing = True
    free = tuple(name for name, value in values.items() if is_crisp(name) and value.fails and not value.cures)
    unclear = frozenset(
        name for name, value in values.items() if value.said_nothing and not value.plain_cures
    )
    needed = tuple(_needed(space, call, values))
    beside = tuple(_beside(space, call, values, needed))
    special = needs_special(laboratory, space, case, call, own)
    loses = loses_elements(laboratory, space, case, call, own)
    core = FailureCore(
        space, call, failure, needed, free, unclear, beside, frozenset(uncured), special, loses
    )
    return replace(core, needed=tuple(_of_this_cause(laboratory, case, core)))


def needs_special(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, failure: CallFailure
) -> bool | None:
    """Whether a call is wrong because of NaN or an infinity: right with plain elements; raises Exhausted.

    None where it is right with those for another reason, or where nothing can be said.
    """
    plain = with_plain_elements(call)
    if plain is None:
        return False
    found, own = (laboratory.outcome(space, case, 0, each) for each in (plain, call))
    if found.passes:
        return True if failure.special and found.cures(own) else None
    return False if found.like(failure) else None


def loses_elements(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, failure: CallFailure
) -> bool | None:
    """Whether a call is right with elements that every type holds, and so loses some; raises Exhausted.

    False where it is wrong with those, too, and so computes wrongly; None where nothing can be said.
    """
    plain = with_plain_type(space, call)
    if plain is None:
        return None
    found = laboratory.outcome(space, case, 0, plain)
    if found.passes:
        return True if found.cures(laboratory.outcome(space, case, 0, call)) else None
    return False if found.failure is not None and found.failure.alike(failure) else None


def _looks_otherwise(found: CallOutcome, own: CallFailure) -> bool:
    """Whether a wrong result is wrong in another way, as far as it looks like anything."""
    pattern = found.failure.pattern if found.failure is not None else ""
    return bool(pattern and own.pattern) and pattern != own.pattern


def _beside(
    space: CallValidity, call: Call, values: Mapping[str, _Values], needed: Sequence[Needed]
) -> Iterator[Needed]:
    """Factors with their plain value, with which alone the call fails: all others that were tried cure."""
    names = {each.factor for each in needed}
    names |= {name.removeprefix("signs of ") for name in names}
    for name, value in values.items():
        alone = value.cures and not value.fails and not value.plain_cures
        if is_crisp(name) and name not in names and alone:
            yield Needed(name, value_of(space, call, name), (), tuple(value.cures))


def _needed(space: CallValidity, call: Call, values: Mapping[str, _Values]) -> Iterator[Needed]:
    """The factors that tell: see `FailureCore`; of a list whose signs are needed the signs alone."""
    crisp = [name for name, value in values.items() if is_crisp(name) and value.plain_cures]
    crisp = [name for name in crisp if f"signs of {name}" not in crisp]
    if not crisp:
        crisp = [name for name, value in values.items() if is_crisp(name) and value.cures and not value.fails]
    # Beside one that tells something, one that may be right by chance says nothing.
    crisp = [name for name in crisp if values[name].telling] or crisp
    # That a call with fewer axes is right says nothing of why this one is wrong.
    wanted = crisp or [
        name for name, value in values.items() if value.plain_cures and name.startswith(ELEMENTS)
    ]
    for name in wanted:
        yield Needed(name, value_of(space, call, name), tuple(values[name].fails), tuple(values[name].cures))


def _still_cures(
    laboratory: Laboratory, space: CallValidity, case: str, step: int, call: Call, held: set[str]
) -> bool:
    """Whether a call passes with each held factor made plain alone."""
    left = set(held)
    for changed in plainest(space, call):
        if changed.factor in left:
            if not laboratory.outcome(space, case, step, changed).passes:
                return False
            left.remove(changed.factor)
    return not left


def changes_of(space: CallValidity, call: Call, needed: Needed) -> Iterator[OneFactorCall]:
    """The call with the factor at a curing value; signs, elements and lengths at any plain one."""
    of_factor = [
        other for other in (*plainest(space, call), *others(space, call)) if other.factor == needed.factor
    ]
    exact = [each for each in of_factor if each.to in needed.cures]
    yield from exact
    if not exact and (needed.factor.startswith("signs of ") or not is_crisp(needed.factor)):
        yield from of_factor


def _of_this_cause(laboratory: Laboratory, case: str, core: FailureCore) -> Iterator[Needed]:
    """The needed factors, with those further values alone that fail of this cause; raises Exhausted."""
    for needed in core.needed:
        own = (to for to in needed.fails if fails_of_it(laboratory, case, core, needed, to))
        yield replace(needed, fails=tuple(own))


def fails_of_it(laboratory: Laboratory, case: str, core: FailureCore, needed: Needed, to: str) -> bool:
    """Whether the other needed factors cure the core with one at another value that fails, too.

    What fails whatever they are fails of something else. Raises Exhausted.
    """
    changed = with_value(core.space, core.call, needed.factor, to)
    if changed is None:
        return True
    for other in core.needed:
        if other.factor == needed.factor:
            continue
        changes = changes_of(core.space, changed.call, other)
        tried = (laboratory.outcome(core.space, case, 0, change) for change in changes)
        said = next(
            (
                call_outcome
                for call_outcome in tried
                if call_outcome.passes or call_outcome.failure is not None
            ),
            None,
        )
        if said is not None and not said.passes:
            return False
    return True
