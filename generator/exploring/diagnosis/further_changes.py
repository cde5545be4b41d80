"""Calls that differ in one thing from a failing one, beside single factors: elements, shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np

from generator.asking.calls import Call
from generator.exploring.diagnosis.one_factor import ELEMENTS, SHAPE, OneFactorCall
from generator.exploring.shrinking.reductions import converted
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor

_Shape = tuple[int, ...]
_PLAIN_TYPES = ("float", "int32", "double", "float16")


def further_changes(call: Call) -> Iterator[OneFactorCall]:
    """The elements of each input small or all the same, axes without elements with one, scalars with an axis.

    What comes out may be no call of the operator.
    """
    if call.slots:
        return
    if is_variadic(call):
        yield from _of_every_tensor(call)
        return
    yield from _retyped(call)
    for name, given in call.inputs:
        if given is None or given.array.size == 0:
            continue
        kind = given.element_type
        if kind.is_float or kind.is_integer:
            ways = {"0, 1, 2, 0, ...": np.arange(given.array.size) % 3.0}
            ways |= {f"all {value:g}": np.full(given.array.size, value) for value in (1.0, 0.0)}
            for to, numbers in ways.items():
                tensor = converted(Tensor(ELEMENT_TYPES["double"], numbers.reshape(given.shape)), kind)
                if tensor != given:
                    yield OneFactorCall(f"{ELEMENTS} {name}", to, call.with_input(name, tensor))
    yield from _reshaped(
        call, "one element in place of none", lambda shape: tuple(max(each, 1) for each in shape)
    )
    yield from _reshaped(call, "an axis in place of none", lambda shape: shape or (1,))
    first = call.inputs[0][1] if call.inputs else None
    if first is not None and first.shape:
        longer = first.array.reshape((*first.shape, 1))
        name = call.inputs[0][0]
        changed = call.with_input(name, Tensor(first.element_type, longer))
        yield OneFactorCall(f"{SHAPE} {name}", "an axis of 1 more", changed)
    yield from _first_alone(call)


def is_variadic(call: Call) -> bool:
    """Whether several tensors of a call stand for one input."""
    names = [name for name, _ in call.inputs]
    return len(set(names)) < len(names)


def _of_every_tensor(call: Call) -> Iterator[OneFactorCall]:
    """All tensors of the first one's type in another type; with small elements."""
    yield from _retyped(call)
    double, places = ELEMENT_TYPES["double"], count()

    def small(given: Tensor) -> Tensor:
        numbers = ((np.arange(given.array.size) + next(places)) % 3.0).reshape(given.shape)
        return converted(Tensor(double, numbers), given.element_type)

    changed = _with_first_type(call, small)
    if changed is not None:
        yield OneFactorCall(f"{ELEMENTS} all", "0, 1, 2, 0, ...", changed)


def _retyped(call: Call) -> Iterator[OneFactorCall]:
    """All tensors of the first one's type in another type."""
    for name in _PLAIN_TYPES:
        changed = _with_first_type(call, partial(converted, kind=ELEMENT_TYPES[name]))
        if changed is not None:
            yield OneFactorCall(f"type of {call.inputs[0][0]}", name, changed)


def _with_first_type(call: Call, turn: Callable[[Tensor], Tensor]) -> Call | None:
    """The call with all tensors of the first one's type turned; None where that has no numbers."""
    first = call.inputs[0][1] if call.inputs else None
    if first is None or not (first.element_type.is_float or first.element_type.is_integer):
        return None
    inputs = tuple(
        (name, each if each is None or each.element_type is not first.element_type else turn(each))
        for name, each in call.inputs
    )
    return replace(call, inputs=inputs)


def _reshaped(call: Call, to: str, of: Callable[[_Shape], _Shape]) -> Iterator[OneFactorCall]:
    """The call with other shapes of all tensors that have numbers, their elements repeated or 1."""
    changed = call
    for name, given in call.inputs:
        if given is not None and of(given.shape) != given.shape and given.element_type.name != "string":
            size = math.prod(of(given.shape))
            if given.array.size:
                array = np.resize(given.array.reshape(-1), size).reshape(of(given.shape))
                made = Tensor(given.element_type, array)
            else:
                numbers = (np.arange(size) % 3.0).reshape(of(given.shape))
                made = converted(Tensor(ELEMENT_TYPES["double"], numbers), given.element_type)
            changed = changed.with_input(name, made)
    if changed is not call:
        yield OneFactorCall(f"{SHAPE} all", to, changed)


def _first_alone(call: Call) -> Iterator[OneFactorCall]:
    """An input with what is first along an axis, along all axes behind the second, and along all."""
    for name, given in call.inputs:
        if given is None or not given.array.size:
            continue
        rank = len(given.shape)
        axes: list[_Shape] = [(each,) for each, extent in enumerate(given.shape) if extent > 1]
        axes += [tuple(range(start, rank)) for start in (2, 0) if start + 1 < rank]
        axes += [(0, 1)] if rank > 2 else []
        for some in axes:
            cut = tuple(slice(0, 1) if each in some else slice(None) for each in range(rank))
            tensor = Tensor(given.element_type, np.ascontiguousarray(given.array[cut]))
            if tensor.shape != given.shape:
                told = f"1 along {', '.join(map(str, some))}"
                yield OneFactorCall(f"{SHAPE} {name}", told, call.with_input(name, tensor))
                if rank == 1:
                    yield OneFactorCall(
                        f"{SHAPE} {name}", f"{told}, as others like it", _cut_alike(call, given.shape)
                    )


def _cut_alike(call: Call, shape: _Shape) -> Call:
    """The call with the first element alone of every input of one axis and such a length."""
    for name, given in call.inputs:
        if given is not None and given.shape == shape:
            call = call.with_input(name, Tensor(given.element_type, np.ascontiguousarray(given.array[:1])))
    return call
