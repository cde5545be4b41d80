"""Calls beside a call that may be simpler."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.exploring.shrinking.entries import change_entry, lengths, remove, renumbered, without_axis
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.of_kinds import simpler_values
from generator.exploring.shrinking.plainness import elements_of, number_cost, numbers_of, type_rank
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode

MOST_ONE_BY_ONE = 64
"""Elements of tensors up to this size are made simpler one by one."""
_SIMPLE = (0, 1, 2)


def simpler(space: CallValidity, call: Call, *, values_tell: bool = False) -> Iterator[Call]:
    """Calls that may be simpler, the boldest changes first; some may not be calls of the operator at all.

    `values_tell`: whether something is wrong shows in values alone, so that a smaller call may need other
    ones to show it.
    """
    call = call.trimmed()
    yield from _less_given(space, call)
    yield from _other_types(space, call)
    for each in (*fewer_axes(call), *_shorter(call)):
        # What a smaller tensor does not bear, a smaller value of a kind may: pads as long as an axis was.
        for one in (each, *simpler_values(space, each)):
            yield one
            if values_tell:
                yield _numbered(one)
    yield from _flatter(call)
    yield from simpler_values(space, call)
    yield from _simpler_attributes(space, call)
    for position in range(len(call.inputs)):
        yield from _simpler_elements(call, position)


def _less_given(space: CallValidity, call: Call) -> Iterator[Call]:
    if len(call.attributes) > 1:
        yield Call({}, call.inputs)
    for name in call.attributes:
        yield call.with_attribute(name, None)
    for parameter in space.spec.inputs:
        if parameter.option == "optional" and dict(call.inputs).get(parameter.name) is not None:
            yield call.with_input(parameter.name, None)


def _other_types(space: CallValidity, call: Call) -> Iterator[Call]:
    for parameter, (_, given) in zip(space.spec.inputs, call.inputs, strict=False):
        if given is None:
            continue
        names = sorted(space.spec.types_of(parameter), key=lambda each: type_rank(ELEMENT_TYPES[each]))
        for name in names:
            if type_rank(ELEMENT_TYPES[name]) >= type_rank(given.element_type):
                break
            yield with_type(call, space.same_type(parameter), name)


def with_type(call: Call, names: Sequence[str], kind: str) -> Call:
    """The call with some of its inputs in another element type."""
    for name in names:
        given = dict(call.inputs).get(name)
        if given is not None:
            call = call.with_input(name, converted(given, ELEMENT_TYPES[kind]))
    return call


def converted(given: Tensor, kind: ElementType) -> Tensor:
    """The nearest elements of another type: of strings and truth values their number."""
    if kind.kind == "string":
        texts = np.empty(given.array.size, dtype=np.object_)
        texts[:] = [str(place).encode() for place in range(given.array.size)]
        return Tensor(kind, texts.reshape(given.shape))
    numbers = numbers_of(given)
    if kind.kind == "complex":
        parts = given.array if given.element_type.kind == "complex" else numbers
        return Tensor(kind, parts.astype(kind.storage).reshape(given.shape))
    if kind.kind == "bool":
        return Tensor(kind, (numbers != 0).reshape(given.shape))
    if kind.is_integer:
        low, high = kind.integer_range
        whole = [min(max(int(each) if math.isfinite(each) else 0, low), high) for each in numbers.tolist()]
        return Tensor(kind, np.array(whole, dtype=kind.storage).reshape(given.shape))
    if kind.layout is not None and kind.layout.nan == "none":
        numbers = np.nan_to_num(numbers, nan=0.0)
    return Tensor(kind, encode(kind, numbers.tolist()).reshape(given.shape))


def fewer_axes(call: Call) -> Iterator[Call]:
    """An axis less, alone or with an entry of the lists that may belong to it; or the entry alone."""
    given = call.inputs[0][1]
    rank = 0 if given is None else len(given.shape)
    for axis in reversed(range(rank)):
        less = without_axis(call, axis)
        bases = [less, *(without_axis(each, axis) for each in renumbered(call, axis, rank))]
        for base in bases:
            yield base
            yield from _without_entries(base)
    yield from _without_entries(call)


def _without_entries(call: Call) -> Iterator[Call]:
    for length in lengths(call):
        for index in reversed(range(length)):
            yield change_entry(call, length, index, remove)


def _shorter(call: Call) -> Iterator[Call]:
    """The first input cut to its first or last elements along one axis: the fewest first."""
    name, given = call.inputs[0]
    if given is None:
        return
    for axis, extent in enumerate(given.shape):
        for length in sorted({1, 2, 3, extent // 2, extent - 2, extent - 1}):
            if 1 <= length < extent:
                for kept in (range(length), range(extent - length, extent)):
                    cut = np.take(given.array, kept, axis)
                    yield call.with_input(name, Tensor(given.element_type, cut))


def _numbered(call: Call) -> Call:
    """The call with the elements 0, 1, 2, ... in its first input."""
    name, given = call.inputs[0]
    if given is None:
        return call
    numbers = np.arange(given.array.size, dtype=np.float64).reshape(given.shape)
    return call.with_input(name, converted(Tensor(ELEMENT_TYPES["double"], numbers), given.element_type))


def _flatter(call: Call) -> Iterator[Call]:
    """The other inputs as plain lists, and those of one element as scalars."""
    for name, given in call.inputs[1:]:
        if given is not None and len(given.shape) > 1:
            yield call.with_input(name, Tensor(given.element_type, given.array.reshape(-1)))
        if given is not None and given.shape == (1,):
            yield call.with_input(name, Tensor(given.element_type, given.array.reshape(())))


def _simpler_attributes(space: CallValidity, call: Call) -> Iterator[Call]:
    for name, given in call.attributes.items():
        known = space.spec.attributes.get(name)
        for value in known.allowed or () if known is not None else ():
            if isinstance(value, str) and isinstance(given.value, str) and value != given.value:
                yield call.with_attribute(name, Attribute(given.kind, value))
        if isinstance(given.value, tuple):
            for place, each in enumerate(given.value):
                for new in _simpler_numbers(each):
                    items: list[Any] = [*given.value[:place], new, *given.value[place + 1 :]]
                    yield call.with_attribute(name, Attribute(given.kind, tuple(items)))
        else:
            for new in _simpler_numbers(given.value):
                yield call.with_attribute(name, Attribute(given.kind, new))


def _simpler_numbers(value: Any) -> list[Any]:
    """Numbers simpler than one, of its own kind; none for words."""
    if isinstance(value, str):
        return []
    if isinstance(value, int):
        nearer = [value // 2 if value > 0 else -(-value // 2), value - 1 if value > 0 else value + 1]
        return [
            each for each in dict.fromkeys((*_SIMPLE, -1, *nearer)) if number_cost(each) < number_cost(value)
        ]
    found: list[float] = [0.0, 1.0, 2.0, 0.5, -1.0]
    if math.isfinite(value):
        found += [float(np.float32(round(value, digits))) for digits in (0, 1, 2)]
    return [each for each in dict.fromkeys(found) if number_cost(each) < number_cost(value)]


def _simpler_elements(call: Call, position: int) -> Iterator[Call]:
    name, given = call.inputs[position]
    if given is None or given.array.size == 0:
        return
    kind, size = given.element_type, given.array.size
    if position == 0:
        yield _numbered(call)
        for whole in (np.zeros(size), np.ones(size)):
            yield call.with_input(
                name, converted(Tensor(ELEMENT_TYPES["double"], whole.reshape(given.shape)), kind)
            )
    if size > MOST_ONE_BY_ONE or kind.kind in ("bool", "string", "complex"):
        return
    for place, value in enumerate(elements_of(given)):
        for new in _simpler_numbers(value):
            if kind.is_integer and not kind.integer_range[0] <= new <= kind.integer_range[1]:
                continue
            array = given.array.copy()
            array.reshape(-1)[place] = new if kind.is_integer else encode(kind, [new])[0]
            yield call.with_input(name, Tensor(kind, array))
