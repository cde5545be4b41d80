"""Causes of different operators that are one: what a runtime does to an element type it may do everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.judging.kept_diagnosis import Needed
from generator.exploring.diagnosis.causes_shown import Shown


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
    return sum(len(_fails(each)) + len(each.cures) for each in shown.core.crisp)


def _fails_beyond(one: Shown, other: Shown) -> int:
    """With how many types the first one fails that the other one was not tried with."""
    own, theirs = one.typed, other.typed
    assert own is not None
    assert theirs is not None
    return len(_fails(own) - _fails(theirs))
