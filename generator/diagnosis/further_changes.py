"""Calls that differ in one thing from a failing one, beside single factors: elements, shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from generator.asking.calls import Call
from generator.diagnosis.one_factor import ELEMENTS, SHAPE, Changed
from generator.fuzzing.reductions import converted
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor

_Shape = tuple[int, ...]


def further_changes(call: Call) -> Iterator[Changed]:
    """The elements of each input all 1 or 0, axes without elements with one, scalars with an axis.

    What comes out may be no call of the operator.
    """
    if call.slots:
        return
    for name, given in call.inputs:
        if given is None or given.array.size == 0:
            continue
        kind = given.element_type
        if kind.is_float or kind.is_integer:
            for value in (1.0, 0.0):
                numbers = np.full(given.shape, value)
                tensor = converted(Tensor(ELEMENT_TYPES["double"], numbers), kind)
                if tensor != given:
                    yield Changed(f"{ELEMENTS} {name}", f"all {value:g}", call.with_input(name, tensor))
    yield from _reshaped(
        call, "one element in place of none", lambda shape: tuple(max(each, 1) for each in shape)
    )
    yield from _reshaped(call, "an axis in place of none", lambda shape: shape or (1,))


def _reshaped(call: Call, to: str, of: Callable[[_Shape], _Shape]) -> Iterator[Changed]:
    """The call with other shapes of all tensors that have numbers, their elements repeated or 1."""
    changed = call
    for name, given in call.inputs:
        if given is not None and of(given.shape) != given.shape and given.element_type.name != "string":
            count = int(np.prod(of(given.shape)))
            elements = given.array.reshape(-1) if given.array.size else np.ones(1, given.array.dtype)
            array = np.resize(elements, count).reshape(of(given.shape))
            changed = changed.with_input(name, Tensor(given.element_type, array))
    if changed is not call:
        yield Changed(f"{SHAPE} all", to, changed)
