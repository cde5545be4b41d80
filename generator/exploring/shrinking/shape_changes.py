"""Calls with other shapes: entries taken out of lists, and axes out of tensors, or put in twice.

Which list belongs to which axis no spec says in a form that could be read here. So every list of one length
loses the same entry, a list of twice that length two, and a rule of the operator decides whether what comes
out is a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.tensors import Tensor

Change = Callable[[NDArray[Any], int, int], NDArray[Any]]
"""What becomes of an array's entry: array, index, axis."""


MOST_ONE_BY_ONE = 64
"""Tensors and lists of up to so many elements are made simpler, or shorter, one element at a time."""


def lengths(call: Call) -> list[int]:
    """The lengths of a call's lists: attributes, and inputs of one or two dimensions behind the first."""
    found = [
        len(attribute.value) for attribute in call.attributes.values() if isinstance(attribute.value, tuple)
    ]
    found += [
        tensor.shape[0] for _, tensor in call.inputs[1:] if tensor is not None and len(tensor.shape) in (1, 2)
    ]
    return sorted({*found, *(each // 2 for each in found if each % 2 == 0)} - {0})


def remove(array: NDArray[Any], index: int, axis: int) -> NDArray[Any]:
    return np.delete(array, index, axis)


def repeat(array: NDArray[Any], index: int, axis: int) -> NDArray[Any]:
    places = list(range(array.shape[axis]))
    return np.take(array, [*places[:index], index, *places[index:]], axis)


def change_entry(call: Call, length: int, index: int, change: Change) -> Call:
    """The call with an entry of every list of that length (two in those of twice the length) changed."""
    attributes = {
        name: _change_attribute(attribute, length, index, change)
        for name, attribute in call.attributes.items()
    }
    inputs = tuple(
        (name, each if place == 0 or each is None else _change_list(each, length, index, change))
        for place, (name, each) in enumerate(call.inputs)
    )
    return replace(call, attributes=attributes, inputs=inputs)


def _change_attribute(given: Attribute, length: int, index: int, change: Change) -> Attribute:
    if not isinstance(given.value, tuple) or len(given.value) != length:
        return given
    items: list[Any] = list(given.value)
    if change is remove:
        del items[index]
    else:
        items.insert(index, items[index])
    return Attribute(given.kind, tuple(items))


def _change_list(given: Tensor, length: int, index: int, change: Change) -> Tensor:
    if len(given.shape) not in (1, 2) or given.shape[0] not in (length, 2 * length):
        return given
    array = change(given.array, index, 0)
    if given.shape[0] == 2 * length:
        second = index + length - 1 if change is remove else index + length + 1
        array = change(array, second, 0)
    return Tensor(given.element_type, array)


def without_axis(call: Call, axis: int) -> Call:
    """The call with the first elements of the first input along an axis alone; the same where it has none."""
    name, given = call.first
    if given is None or given.shape[axis] == 0:
        return call
    # Of a list of strings numpy takes the bytes alone, not an array of them.
    taken = np.asarray(np.take(given.array, 0, axis), dtype=given.array.dtype)
    return call.with_input(name, Tensor(given.element_type, taken))


def with_axis(call: Call, axis: int) -> Call:
    """The call with an axis of one element put into its first input."""
    name, given = call.first
    if given is None:
        return call
    return call.with_input(name, Tensor(given.element_type, np.expand_dims(given.array, axis)))


def renumbered(call: Call, axis: int, rank: int) -> Iterator[Call]:
    """Calls whose numbers of axes fit a tensor without that axis: for each attribute that may have some."""
    for name, given in call.attributes.items():
        if given.kind not in ("int", "ints"):
            continue
        numbers = tuple(int(number) for number in given.numbers)
        if all(-rank <= number < rank and number % rank != axis for number in numbers):
            kept = tuple(_without(number, axis, rank) for number in numbers)
            if kept != numbers:
                value = kept if given.kind == "ints" else kept[0]
                yield call.with_attribute(name, Attribute(given.kind, value))


def _without(number: int, axis: int, rank: int) -> int:
    place = number % rank
    place -= place > axis
    return place if number >= 0 else place - (rank - 1)


def fewer_axes(call: Call) -> Iterator[Call]:
    """An axis less, alone or with an entry of the lists that may belong to it; or the entry alone."""
    given = call.first[1]
    rank = 0 if given is None else len(given.shape)
    for axis in reversed(range(rank)):
        less = without_axis(call, axis)
        for base in (less, *(without_axis(each, axis) for each in renumbered(call, axis, rank))):
            yield base
            yield from _without_entries(base)
    yield from _without_entries(call)


def _without_entries(call: Call) -> Iterator[Call]:
    for length in lengths(call):
        for index in reversed(range(length if length <= MOST_ONE_BY_ONE else 0)):
            yield change_entry(call, length, index, remove)


def shorter(call: Call) -> Iterator[Call]:
    """The first input cut to its first or last elements along one axis: the fewest first."""
    name, given = call.first
    if given is None:
        return
    for axis, extent in enumerate(given.shape):
        for length in sorted({1, 2, 3, extent // 2, extent - 2, extent - 1}):
            if 1 <= length < extent:
                for kept in (range(length), range(extent - length, extent)):
                    cut = np.take(given.array, kept, axis)
                    yield call.with_input(name, Tensor(given.element_type, cut))


def flatter(call: Call) -> Iterator[Call]:
    """The other inputs as plain lists, and those of one element as scalars."""
    for name, given in call.inputs[1:]:
        if given is not None and len(given.shape) > 1:
            yield call.with_input(name, Tensor(given.element_type, given.array.reshape(-1)))
        if given is not None and given.shape == (1,):
            yield call.with_input(name, Tensor(given.element_type, given.array.reshape(())))
