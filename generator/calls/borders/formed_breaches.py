"""Calls that break a rule of an input that may be more than a tensor: another form, shape, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.models.packed_models import is_carried
from generator.asking.calls import Call
from opcert.vocabulary.slots import Slot, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import (
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    element_type_in,
    holds_map,
)
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import is_structured


def formed_breaches(spec: Spec, call: Call) -> Iterator[Call]:
    """Calls that differ from a valid one in such an input alone; not each of them breaks a rule."""
    structured = {each.name: each for each in spec.inputs if is_structured(spec, each)}
    for slot in slots_of(call.inputs, call.slots):
        parameter = structured.get(slot.name)
        if parameter is None:
            continue
        for changed in _of_slot(call, slot, parameter):
            kinds = [each.type for each in changed.slots if each.type is not None]
            if all(is_carried(spec.operator, each) or holds_map(each) for each in kinds):
                yield changed


def _of_slot(call: Call, slot: Slot, parameter: ParameterSpec) -> Iterator[Call]:
    if parameter.option == "single":
        yield _with_slot(call, slot, Slot(slot.name))
    if not slot.parts or (slot.type is not None and holds_map(slot.type)):
        return
    first = call.inputs[slot.parts[0]][1]
    assert first is not None
    for form in _forms(TensorType(first.element_type)):
        yield _with_slot(call, slot, Slot(slot.name, slot.parts[:1], form))
    yield _with_part(call, slot, np.concatenate([first.array[..., None], first.array[..., None]], axis=-1))
    if first.shape:
        yield _with_part(call, slot, first.array[:0].reshape(0))


def _forms(held: TensorType) -> tuple[ValueType | None, ...]:
    return (None, SequenceType(held), OptionalType(held), OptionalType(SequenceType(held)))


def _with_slot(call: Call, old: Slot, new: Slot) -> Call:
    """The call with one slot exchanged; tensors that no slot has any more go."""
    slots = [new if each == old else each for each in slots_of(call.inputs, call.slots)]
    used = sorted({part for each in slots for part in each.parts})
    places = {part: place for place, part in enumerate(used)}
    moved = tuple(replace(each, parts=tuple(places[part] for part in each.parts)) for each in slots)
    return replace(call, inputs=tuple(call.inputs[part] for part in used), slots=moved)


def _with_part(call: Call, slot: Slot, array: NDArray[Any]) -> Call:
    place = slot.parts[0]
    name, old = call.inputs[place]
    assert old is not None
    kind = old.element_type if slot.type is None else element_type_in(slot.type)
    inputs = [*call.inputs]
    inputs[place] = (name, Tensor(kind, array))
    return replace(call, inputs=tuple(inputs))
