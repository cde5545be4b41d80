"""Making a failing call as small as it gets while it fails in the same way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from generator.asking.calls import Call
from generator.exploring.shrinking.element_changes import (
    counted,
    elements_of,
    numbers_of,
    type_groups,
    type_rank,
    with_numbers,
    with_type,
)
from generator.exploring.shrinking.judged_calls import Budget, CallFailure, CallTrials, Exhausted
from generator.exploring.shrinking.known_space import Attempt, CallValidity
from generator.exploring.shrinking.one_factor import left_out
from generator.exploring.shrinking.shape_changes import MOST_ONE_BY_ONE, fewer_axes, flatter, shorter
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode


def simpler(space: CallValidity, call: Call, *, values_tell: bool = False) -> Iterator[Call]:
    """Calls that may be simpler, the boldest changes first; some may not be calls of the operator at all.

    `values_tell`: whether something is wrong shows in values alone, so that a smaller call may need other
    ones to show it.
    """
    call = call.trimmed()
    if len(call.attributes) > 1:
        yield replace(call, attributes={})
    yield from (each.call for each in left_out(space, call))
    yield from _plainer_types(space, call)
    for smaller in (*fewer_axes(call), *shorter(call)):
        # What a smaller tensor does not bear, a plain list may: pads as long as an axis was.
        for changed in (smaller, *_with_plain_lists(smaller)):
            yield changed
            if values_tell:
                yield _numbered(changed)
    yield from flatter(call)
    yield from _with_plain_lists(call)
    yield from _simpler_attributes(space, call)
    for place, (_, given) in enumerate(call.inputs):
        if given is not None and given.array.size:
            yield from _simpler_elements(call, place, given)


def _plainer_types(space: CallValidity, call: Call) -> Iterator[Call]:
    for first, names, types in type_groups(space, call):
        now = call.input(first)
        for name in types:
            if now is not None and type_rank(ELEMENT_TYPES[name]) < type_rank(now.element_type):
                yield with_type(call, names, name)


def _numbered(call: Call) -> Call:
    """The call with the elements 0, 1, 2, ... in its first input."""
    name, given = call.first
    return call if given is None else call.with_input(name, counted(given))


def _with_plain_lists(call: Call) -> Iterator[Call]:
    """The call with a list that says how much all 0, all 1, or of whole numbers like the first shape."""
    shape = () if call.first[1] is None else call.first[1].shape
    for name, given in call.attributes.items():
        if isinstance(given.value, tuple) and given.kind in ("ints", "floats"):
            for numbers in _plain_numbers(given.numbers, shape if given.kind == "ints" else ()):
                yield call.with_attribute(name, attribute(given.kind, numbers))
    for name, tensor in call.inputs[1:]:
        if tensor is None or not (tensor.element_type.is_integer or tensor.element_type.is_float):
            continue
        is_list = tensor.element_type.is_integer and len(tensor.shape) == 1
        for numbers in _plain_numbers(numbers_of(tensor).tolist(), shape if is_list else ()):
            if len(numbers) == tensor.array.size:
                yield call.with_input(name, with_numbers(tensor, numbers))
            else:
                array = np.array(numbers, dtype=tensor.array.dtype)
                yield call.with_input(name, Tensor(tensor.element_type, array))


def _plain_numbers(numbers: Sequence[float], shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Plain lists in place of one that is not empty."""
    plain = [(0,) * len(numbers), (1,) * len(numbers), shape] if numbers else []
    return [each for each in dict.fromkeys(plain) if each and each != tuple(numbers)]


def _simpler_attributes(space: CallValidity, call: Call) -> Iterator[Call]:
    for name, given in call.attributes.items():
        known = space.spec.attributes.get(name)
        for value in known.allowed or () if known is not None else ():
            if isinstance(value, str) and isinstance(given.value, str) and value != given.value:
                yield call.with_attribute(name, Attribute(given.kind, value))
        if isinstance(given.value, tuple):
            for place, item in enumerate(given.value if len(given.value) <= MOST_ONE_BY_ONE else ()):
                for new in _simpler_numbers(item):
                    items: list[Any] = [*given.value[:place], new, *given.value[place + 1 :]]
                    yield call.with_attribute(name, Attribute(given.kind, tuple(items)))
        else:
            for new in _simpler_numbers(given.value):
                yield call.with_attribute(name, Attribute(given.kind, new))


def _simpler_numbers(value: Any) -> list[Any]:
    """Numbers simpler than one, of its own kind; none for words."""
    if isinstance(value, str):
        return []
    found: list[Any]
    if isinstance(value, int):
        nearer = [value // 2 if value > 0 else -(-value // 2), value - 1 if value > 0 else value + 1]
        found = [0, 1, 2, -1, *nearer]
    else:
        found = [0.0, 1.0, 2.0, 0.5, -1.0]
        if math.isfinite(value):
            found += [float(np.float32(round(value, digits))) for digits in (0, 1, 2)]
    return [new for new in dict.fromkeys(found) if _number_cost(new) < _number_cost(value)]


def _simpler_elements(call: Call, place: int, given: Tensor) -> Iterator[Call]:
    """An input that has elements with plain ones, if it is the first, and with each of them simpler."""
    name, kind, size = call.inputs[place][0], given.element_type, given.array.size
    if place == 0:
        yield _numbered(call)
        yield call.with_input(name, with_numbers(given, np.zeros(size)))
        yield call.with_input(name, with_numbers(given, np.ones(size)))
    if size > MOST_ONE_BY_ONE or kind.kind in ("bool", "string", "complex"):
        return
    for at, value in enumerate(elements_of(given)):
        for new in _simpler_numbers(value):
            if kind.is_integer and not kind.integer_range[0] <= new <= kind.integer_range[1]:
                continue
            array = given.array.copy()
            array.reshape(-1)[at] = new if kind.is_integer else encode(kind, [new])[0]
            yield call.with_input(name, Tensor(kind, array))


def weight(call: Call) -> tuple[float, ...]:
    """How much there is to read in a call: calls are simpler in this order.

    Fewer attributes and inputs; a more common element type; fewer axes; fewer elements; shorter lists;
    simpler numbers.
    """
    given = [tensor for _, tensor in call.inputs if tensor is not None]
    listed = [each.value for each in call.attributes.values() if isinstance(each.value, tuple)]
    return (
        len(call.attributes) + len(given),
        sum(type_rank(tensor.element_type) for tensor in given),
        sum(len(tensor.shape) for tensor in given),
        given[0].array.size if given else 0,
        sum(given[0].shape) if given else 0,
        sum(tensor.array.size for tensor in given[1:]) + sum(map(len, listed)),
        math.fsum(map(_cost, given)) + math.fsum(map(_attribute_cost, call.attributes.values())),
    )


def _cost(given: Tensor) -> float:
    kind = given.element_type.kind
    if kind == "string":
        return float(sum(map(len, given.array.reshape(-1).tolist())))
    if kind == "bool":
        return float(np.count_nonzero(given.array))
    numbers = numbers_of(given).tolist() if kind == "complex" else elements_of(given)
    return math.fsum(map(_number_cost, numbers))


def _attribute_cost(given: Attribute) -> float:
    values: tuple[Any, ...] = given.value if isinstance(given.value, tuple) else (given.value,)
    return math.fsum(1 if isinstance(value, str) else _number_cost(value) for value in values)


def _number_cost(value: float) -> float:
    """How hard a number is to read: 0, 1, 2, ... in rising order, then fractions by their digits."""
    if not math.isfinite(value):
        return 60.0
    size = abs(value)
    if size == int(size) and size < 10:
        return size + (0.5 if value < 0 or math.copysign(1, value) < 0 else 0)
    return 10.0 + len(f"{size:.9g}") + (0.5 if value < 0 else 0)


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
        return _candidates(trials, now.attempt, seen, failure.verdict == "mismatch")

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


def _candidates(trials: CallTrials, attempt: Attempt, seen: set[str], values_tell: bool) -> Iterator[Attempt]:
    """Simpler calls, valid or breaking the same rule, that were not seen yet, while there is time."""
    space, now = trials.space, weight(attempt.call)
    for call in simpler(space, attempt.call, values_tell=values_tell):
        trials.budget.check()
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
    for call in _with_one_thing_of(attempt.call, attempt.made_from):
        found = space.attempt(call)
        if found is not None and found.breaks is None:
            return replace(attempt, made_from=found.call)
    return attempt


def _with_one_thing_of(call: Call, other: Call) -> Iterator[Call]:
    for name in {**call.attributes, **other.attributes}:
        yield call.with_attribute(name, other.attributes.get(name))
    for name in {**dict(call.inputs), **dict(other.inputs)}:
        yield call.with_input(name, dict(other.inputs).get(name))
