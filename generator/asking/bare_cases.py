"""Calls as cases that demand nothing but survival: there is no reference yet, and runtimes are witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.given_inputs import output_names
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.slots import gather, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import MapType, OptionalType, SequenceType, TensorType, ValueType
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import (
    element_types_of,
    form_of,
    is_sequence,
    is_structured,
    listed_forms,
    listed_types,
    read_type,
    sequence_type,
    type_variable,
)

FAMILY = "survival"


def bare_case(spec: Spec, call: Call) -> Case:
    """The case of a call without an expectation; its outputs have the types that the facts give them."""
    call = call.trimmed()
    return Case(
        id=CaseId(spec.operator, FAMILY, None, call.digest(spec.operator)),
        element_type=first_type(spec, call),
        attributes=dict(call.attributes),
        inputs=call.inputs,
        output_names=output_names(spec, call),
        demand="survive",
        slots=call.slots,
        outputs_asked=call.outputs is not None,
        output_types=output_types(spec, call),
    )


def output_types(spec: Spec, call: Call) -> Mapping[str, ValueType]:
    """The types of outputs that are sequences or optionals, by their names.

    What may be now a tensor and now something else is what the input of its type variable is; where none has
    that, it holds what the first input is, or is what that holds.
    """
    names, found = output_names(spec, call), dict[str, ValueType]()
    given = {slot.name: slot.type for slot in call.slots if slot.type is not None}
    for output in spec.outputs:
        if output.option == "variadic":
            found |= _of_bodies(spec, call, output, names)
        elif output.name in names and is_sequence(spec, output):
            found[output.name] = sequence_type(_element_type(spec, call, output))
        elif output.name in names and is_structured(spec, output):
            like = [parameter.name for parameter in spec.inputs if parameter.type == output.type]
            kind = given.get(like[0]) if like else _around_or_within(spec, call, output)
            if kind is None:
                kind = _keyed_by_attribute(spec, call, output)
            if kind is not None and not isinstance(kind, TensorType):
                found[output.name] = kind
    return found


_FIRST = {"Loop": 1}
"""What a body gives before what the node's outputs are of, by operators."""


def _of_bodies(
    spec: Spec, call: Call, output: ParameterSpec, names: Sequence[str]
) -> Iterator[tuple[str, ValueType]]:
    """The types of outputs that are what a body gives, or sequences of what it gave of each element."""
    bodies = (each.value for each in call.attributes.values() if isinstance(each.value, Graph))
    body = next((body for body in bodies if body.outputs is not None), None)
    given = () if body is None or body.outputs is None else body.outputs
    for place, kind in enumerate(given[_FIRST.get(spec.operator.name, 0) :]):
        name = f"{output.name}_{place}"
        if name in names and isinstance(kind, TensorType) and is_sequence(spec, output):
            yield name, SequenceType(TensorType(kind.element_type))
        elif name in names and isinstance(kind, SequenceType | OptionalType):
            yield name, kind


def _around_or_within(spec: Spec, call: Call, output: ParameterSpec) -> ValueType | None:
    """The type of an output that holds what the first input or an attribute says, or is what that holds."""
    slot = next(iter(slots_of(call.inputs, call.slots)), None)
    kind: ValueType | None = None
    if slot is not None and slot.type is not None:
        kind = slot.type
    elif slot is not None and slot.parts:
        (tensor,) = gather(slot, call.inputs)
        kind = TensorType(tensor.element_type)
    stated = (each.value for each in call.attributes.values() if each.kind == "type")
    kind = next(stated, None) if kind is None else kind  # type: ignore[assignment] # the value of its kind
    if kind is None:
        return None
    forms = listed_forms(spec, output)
    around = () if isinstance(kind, OptionalType) else (OptionalType(kind),)
    within = (kind.of,) if isinstance(kind, OptionalType) else ()
    return next((each for each in (kind, *around, *within) if form_of(each) in forms), None)


def _keyed_by_attribute(spec: Spec, call: Call, output: ParameterSpec) -> ValueType | None:
    """The type of an output of maps, where an attribute of the call lists texts or whole numbers as keys."""
    given = {each.kind for each in call.attributes.values()}
    for kind in map(read_type, listed_types(spec, output)):
        held = kind.of if isinstance(kind, SequenceType) else kind
        if isinstance(held, MapType) and ("strings" if held.key.kind == "string" else "ints") in given:
            return kind
    return None


def _element_type(spec: Spec, call: Call, output: ParameterSpec) -> str:
    """That of the first input whose type variable an output has; else what `dtype` says, or the first that it
    may have: without `dtype` float."""
    variable = type_variable(spec, output)
    for parameter in spec.inputs:
        if type_variable(spec, parameter) == variable:
            for tensor in call.tensors(parameter.name):
                if isinstance(tensor, Tensor):
                    return tensor.element_type.name
    if "dtype" in spec.attributes:
        stated = call.attributes.get("dtype")
        known = None if stated is None else BY_CODE.get(int(stated.numbers[0]))
        return "float" if known is None else known.name
    return element_types_of(spec, output)[0]


def first_type(spec: Spec, call: Call) -> ElementType:
    """The element type that a case counts under: of its first input, or what its first output may be."""
    first = next((tensor for _, tensor in call.inputs if tensor is not None), None)
    if first is not None:
        return first.element_type
    known = [name for output in spec.outputs for name in element_types_of(spec, output)]
    return ELEMENT_TYPES["float" if "float" in known or not known else known[0]]
