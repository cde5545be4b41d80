"""What a reference is given of a call, and which of its answers the call asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from generator.asking.calls import Call
from opcert.vocabulary.slots import Slot, gather, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import OptionalType, TensorType, ValueType
from reference.answers import Answer, sequence_of
from reference.registry.reference_operator import Argument
from specs.model.spec import Spec
from specs.model.structures import holds_several


def arguments_of(spec: Spec, call: Call) -> Mapping[str, Argument]:
    """The inputs by name: a tensor, None where one is left out, all tensors of a variadic input or sequence.

    An optional is what it holds, None where that is nothing; a map its keys and its values. One tensor that
    is given twice is there under both names.
    """
    slots = slots_of(call.inputs, call.slots)
    declared = {each.name: each for each in spec.inputs}
    structured = {slot.name for slot in slots if slot.type is not None}
    found: dict[str, Any] = {}
    for slot in slots:
        parameter = declared.get(slot.name)
        if parameter is not None and parameter.option == "variadic" and slot.name in structured:
            found[slot.name] = (*found.get(slot.name, ()), _value(slot, call))
        elif slot.type is not None and not _is_one_tensor(slot.type):
            found[slot.name] = None if slot.empty else tuple(gather(slot, call.inputs))
        elif parameter is not None and holds_several(spec, parameter):
            if slot.name not in found:  # each tensor of a variadic input has a slot
                found[slot.name] = call.tensors(slot.name)
        else:
            found[slot.name] = call.inputs[slot.parts[0]][1] if slot.parts else None
    return found


def _value(slot: Slot, call: Call) -> Answer | Tensor | None:
    """One value of a variadic input of which some are sequences."""
    tensors = tuple(gather(slot, call.inputs))
    if slot.type is not None and not _is_one_tensor(slot.type):
        return sequence_of(tensors)
    return tensors[0] if tensors else None


def _is_one_tensor(kind: ValueType) -> bool:
    """Whether a value of the type, where there is one, is one tensor."""
    return isinstance(kind.of if isinstance(kind, OptionalType) else kind, TensorType)


def output_names(spec: Spec, call: Call) -> tuple[str, ...]:
    """The names of all outputs of the node in order, empty where one is not asked for."""
    return call.outputs if call.outputs is not None else tuple(output.name for output in spec.outputs)
