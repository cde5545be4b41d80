"""Simpler calls beside a call, and what `simpler` means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.values import decode_floats
from generator.calls import Call
from generator.fuzzing.entries import change_entry, lengths, remove, renumbered, without_axis
from generator.fuzzing.space import Space
from opcert.attributes import Attribute
from opcert.element_types import ELEMENT_TYPES, ElementType
from opcert.tensors import Tensor
from reference.numbers import encode

_TYPES = ("float", "int64", "int32", "double", "uint8", "int8", "float16")
"""Element types from the most common one on; those not named come behind."""
MOST_ONE_BY_ONE = 64
"""Elements of tensors up to this size are made simpler one by one."""
_SIMPLE = (0, 1, 2)


def weight(call: Call) -> tuple[float, ...]:
    """Calls are simpler in this order.

    Fewer attributes and inputs; a more common element type; fewer axes; fewer elements; shorter lists;
    simpler numbers.
    """
    given = [each for _, each in call.inputs if each is not None]
    listed = [each.value for each in call.attributes.values() if isinstance(each.value, tuple)]
    return (
        len(call.attributes) + len(given),
        sum(_type_rank(each.element_type) for each in given),
        sum(len(each.shape) for each in given),
        given[0].array.size if given else 0,
        sum(given[0].shape) if given else 0,
        sum(each.array.size for each in given[1:]) + sum(map(len, listed)),
        sum(_cost(each) for each in given) + sum(_attribute_cost(each) for each in call.attributes.values()),
    )


def _type_rank(kind: ElementType) -> int:
    return _TYPES.index(kind.name) if kind.name in _TYPES else len(_TYPES) + kind.code


def simpler(space: Space, call: Call) -> Iterator[Call]:
    """Calls that may be simpler, the boldest changes first; some may not be calls of the operator at all."""
    call = call.trimmed()
    yield from _less_given(space, call)
    yield from _other_types(space, call)
    yield from _fewer_axes(call)
    yield from _flatter(call)
    yield from _shorter(call)
    yield from _simpler_attributes(space, call)
    for position in range(len(call.inputs)):
        yield from _simpler_elements(call, position)


def _less_given(space: Space, call: Call) -> Iterator[Call]:
    if len(call.attributes) > 1:
        yield Call({}, call.inputs)
    for name in call.attributes:
        yield call.with_attribute(name, None)
    for parameter in space.spec.inputs:
        if parameter.option == "optional" and dict(call.inputs).get(parameter.name) is not None:
            yield call.with_input(parameter.name, None)


def _other_types(space: Space, call: Call) -> Iterator[Call]:
    for parameter, (_, given) in zip(space.spec.inputs, call.inputs, strict=False):
        if given is None:
            continue
        names = sorted(space.spec.types_of(parameter), key=lambda each: _type_rank(ELEMENT_TYPES[each]))
        for name in names:
            if _type_rank(ELEMENT_TYPES[name]) >= _type_rank(given.element_type):
                break
            changed = call
            for other in space.same_type(parameter):
                each = dict(call.inputs).get(other)
                if each is not None:
                    changed = changed.with_input(other, converted(each, ELEMENT_TYPES[name]))
            yield changed


def converted(given: Tensor, kind: ElementType) -> Tensor:
    """The nearest elements of another type: of strings and truth values their number."""
    if kind.kind == "string":
        texts = np.empty(given.array.size, dtype=np.object_)
        texts[:] = [str(place).encode() for place in range(given.array.size)]
        return Tensor(kind, texts.reshape(given.shape))
    numbers = _numbers(given)
    if kind.kind == "complex":
        return Tensor(kind, numbers.astype(kind.storage).reshape(given.shape))
    if kind.kind == "bool":
        return Tensor(kind, (numbers != 0).reshape(given.shape))
    if kind.is_integer:
        low, high = kind.integer_range
        whole = [min(max(int(each) if math.isfinite(each) else 0, low), high) for each in numbers.tolist()]
        return Tensor(kind, np.array(whole, dtype=kind.storage).reshape(given.shape))
    return Tensor(kind, encode(kind, numbers.tolist()).reshape(given.shape))


def _numbers(given: Tensor) -> NDArray[np.float64]:
    kind, flat = given.element_type, given.array.reshape(-1)
    if kind.kind == "string":
        return np.arange(flat.size, dtype=np.float64)
    if kind.kind == "complex":
        return np.asarray(flat.real, dtype=np.float64)
    return decode_floats(kind, flat) if kind.is_float else flat.astype(np.float64)


def _fewer_axes(call: Call) -> Iterator[Call]:
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
    """The first input cut to fewer elements along one axis: of several lengths the shortest first."""
    name, given = call.inputs[0]
    if given is None:
        return
    for axis, extent in enumerate(given.shape):
        for length in sorted({1, 2, 3, extent // 2, extent - 2, extent - 1}):
            if 1 <= length < extent:
                cut = np.take(given.array, range(length), axis)
                yield call.with_input(name, Tensor(given.element_type, cut))


def _flatter(call: Call) -> Iterator[Call]:
    """The other inputs as plain lists, and those of one element as scalars."""
    for name, given in call.inputs[1:]:
        if given is not None and len(given.shape) > 1:
            yield call.with_input(name, Tensor(given.element_type, given.array.reshape(-1)))
        if given is not None and given.shape == (1,):
            yield call.with_input(name, Tensor(given.element_type, given.array.reshape(())))


def _simpler_attributes(space: Space, call: Call) -> Iterator[Call]:
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
        for whole in (np.zeros(size), np.ones(size), np.arange(size, dtype=np.float64)):
            yield call.with_input(
                name, converted(Tensor(ELEMENT_TYPES["double"], whole.reshape(given.shape)), kind)
            )
    if size > MOST_ONE_BY_ONE or kind.kind in ("bool", "string", "complex"):
        return
    for place, value in enumerate(_plain(given)):
        for new in _simpler_numbers(value):
            if kind.is_integer and not kind.integer_range[0] <= new <= kind.integer_range[1]:
                continue
            array = given.array.copy()
            array.reshape(-1)[place] = new if kind.is_integer else encode(kind, [new])[0]
            yield call.with_input(name, Tensor(kind, array))


def _plain(given: Tensor) -> Sequence[Any]:
    kind, flat = given.element_type, given.array.reshape(-1)
    found: list[Any] = (flat if kind.is_integer else decode_floats(kind, flat)).tolist()
    return found


def _cost(given: Tensor) -> float:
    kind = given.element_type
    if kind.kind == "string":
        return float(sum(map(len, given.array.reshape(-1).tolist())))
    if kind.kind == "complex":
        return float(sum(number_cost(float(each)) for each in _numbers(given)))
    if kind.kind == "bool":
        return float(given.array.sum())
    return float(sum(map(number_cost, _plain(given))))


def _attribute_cost(given: Attribute) -> float:
    values: tuple[Any, ...] = given.value if isinstance(given.value, tuple) else (given.value,)
    return float(sum(1 if isinstance(each, str) else number_cost(each) for each in values))


def number_cost(value: float) -> float:
    """How hard a number is to read: 0, 1, 2, ... in rising order, then fractions by their digits."""
    if not math.isfinite(value):
        return 60.0
    size = abs(value)
    if size == int(size) and size < 10:
        return size + (0.5 if value < 0 or math.copysign(1, value) < 0 else 0)
    return (
        10.0
        + len(repr(float(np.float32(size)) if isinstance(value, float) else size))
        + (0.5 if value < 0 else 0)
    )
