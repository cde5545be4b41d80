"""Whether two cores agree: in values of factors and in elements; and what becomes of a call without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.judging.kept_diagnosis import Needed
from generator.asking.calls import Call
from generator.exploring.diagnosis.laboratory import CallOutcome as Tried
from generator.exploring.diagnosis.laboratory import Laboratory
from generator.exploring.diagnosis.one_factor import LEFT_OUT, with_value
from generator.exploring.diagnosis.taking_apart import FailureCore, changes_of, fails_of_it
from generator.exploring.shrinking.known_space import CallValidity


def fails_with(
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


def same_elements(one: FailureCore, other: FailureCore) -> bool:
    """Whether cores that need elements are right with the same ones, and wrong in one way with others."""
    specials = {each.failure.special for each in (one, other)}
    if one.failure.how != other.failure.how or len(specials) > 1:
        return False
    own, theirs = ({way for each in core.crisp for way in each.cures} for core in (one, other))
    return not own & other.uncured and not theirs & one.uncured


def apart(one: FailureCore, other: FailureCore) -> bool:
    """Whether one of both is wrong because of NaN or an infinity, and the other one without."""
    return {one.special, other.special} == {True, False}


def factors_of(core: FailureCore) -> dict[str, Needed]:
    return {each.factor: each for each in core.crisp}


def agree(own: Mapping[str, Needed], theirs: Mapping[str, Needed], *, strictly: bool) -> bool:
    """Whether both have factors in common, with values of which neither says that the other one is right.

    Where one of both shows that the other's value fails it is believed, unless `strictly`: that a further
    value is right may be by chance.
    """
    both = own.keys() & theirs.keys()
    return bool(both) and all(
        (not strictly and theirs[name].value in own[name].fails)
        or (not strictly and own[name].value in theirs[name].fails)
        or (alike(theirs[name].value, own[name]) and alike(own[name].value, theirs[name]))
        for name in both
    )


def alike(value: str, needed: Needed) -> bool:
    """Whether a value is none with which the core passes; values of lists say nothing."""
    if value in (needed.value, *needed.fails):
        return True
    if (value == LEFT_OUT) != (needed.value == LEFT_OUT):
        return False
    return value not in needed.cures


def cured(
    laboratory: Laboratory, space: CallValidity, case: str, call: Call, needed: Needed
) -> Iterator[Tried]:
    """What becomes of a call with the factor at values that cure the core, until one says something."""
    for changed in changes_of(space, call, needed):
        found = laboratory.outcome(space, case, 0, changed)
        yield found
        if found.passes or found.failure is not None:
            return
