"""Calls: what one case gives to its operator, before anybody says what must come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from conformance.suite.cases import Case, call_digest
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.slots import Slot, Slots, gather, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType, ValueType


@dataclass(frozen=True, eq=False)
class Call:
    """One call of an operator: attributes by name, inputs in the operator's order (None: omitted).

    The tensors of a variadic input repeat its name. `slots` say what the node's inputs are made of where they
    are not one tensor each: sequences, optionals, maps, one tensor given twice. `outputs` are the names of
    the outputs that are asked for, in order, empty where one is not wanted; None leaves it to the operator.
    """

    attributes: Mapping[str, Attribute]
    inputs: tuple[tuple[str, Tensor | None], ...]
    slots: Slots = ()
    outputs: tuple[str, ...] | None = None

    @property
    def first(self) -> tuple[str, Tensor | None]:
        """The first input with its name; an empty one and None where there is none."""
        return self.inputs[0] if self.inputs else ("", None)

    def input(self, name: str) -> Tensor | None:
        """The input of that name, None where it is omitted; raises KeyError where the operator has none."""
        return dict(self.inputs)[name]

    def tensors(self, name: str) -> tuple[Tensor | None, ...]:
        """The tensors of a variadic input or of a sequence, in order, None where one is missing."""
        found: list[Tensor | None] = []
        for slot in slots_of(self.inputs, self.slots):
            if slot.name == name:
                found.extend(gather(slot, self.inputs) if slot.parts else () if slot.type else (None,))
        return tuple(found)

    def with_input(self, name: str, value: Tensor | None) -> Call:
        """The same call with one input exchanged, omitted (None), or added behind the others."""
        if name not in dict(self.inputs):
            return replace(self, inputs=(*self.inputs, (name, value)))
        inputs = tuple((each, value if each == name else old) for each, old in self.inputs)
        return replace(self, inputs=inputs)

    def with_tensors(self, inputs: tuple[tuple[str, Tensor | None], ...]) -> Call:
        """The same call with other tensors in their places; a value is of the type that they have."""
        slots = tuple(replace(slot, type=_type_of_parts(slot, inputs)) for slot in self.slots)
        return replace(self, inputs=inputs, slots=slots)

    def with_attribute(self, name: str, value: Attribute | None) -> Call:
        """The same call with one attribute set, or left out (None)."""
        attributes = {each: old for each, old in self.attributes.items() if each != name}
        if value is not None:
            attributes[name] = value
        return replace(self, attributes=attributes)

    def digest(self, operator: OperatorName) -> str:
        """The 12 hex digits of the case id that this call has; trailing omitted inputs do not count."""
        if operator not in self._digests:
            call = self.trimmed()
            self._digests[operator] = call_digest(
                operator, call.attributes, call.inputs, slots=call.slots, outputs=call.outputs
            )
        return self._digests[operator]

    @cached_property
    def _digests(self) -> dict[OperatorName, str]:
        return {}

    def trimmed(self) -> Call:
        """The same call without omitted inputs at the end, which say nothing."""
        if self.slots:
            slots = list(self.slots)
            while slots and _is_omitted(slots[-1]):
                slots.pop()
            return self if len(slots) == len(self.slots) else replace(self, slots=tuple(slots))
        inputs = list(self.inputs)
        while inputs and inputs[-1][1] is None:
            inputs.pop()
        return self if len(inputs) == len(self.inputs) else replace(self, inputs=tuple(inputs))


def call_of(case: Case) -> Call:
    """The call that a case makes."""
    return Call(case.attributes, case.inputs, case.slots, case.output_names if case.outputs_asked else None)


def _type_of_parts(slot: Slot, inputs: tuple[tuple[str, Tensor | None], ...]) -> ValueType | None:
    """The slot's type with the element type that its tensors have, where that is one; maps keep theirs."""
    types = {tensor.element_type for part in slot.parts if (tensor := inputs[part][1]) is not None}
    return slot.type if slot.type is None or len(types) != 1 else _of_type(slot.type, types.pop())


def _of_type(kind: ValueType, element_type: ElementType) -> ValueType:
    match kind:
        case TensorType():
            return TensorType(element_type, kind.shape)
        case SequenceType() | OptionalType():
            return replace(kind, of=_of_type(kind.of, element_type))
    return kind


def _is_omitted(slot: Slot) -> bool:
    return slot.type is None and not slot.parts
