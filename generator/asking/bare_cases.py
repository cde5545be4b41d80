"""Calls as cases that demand nothing but survival: there is no reference yet, and runtimes are witnesses."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.given_inputs import output_names
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import ValueType
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import element_types_of, is_sequence, is_structured, sequence_type, type_variable

FAMILY = "survival"


def bare_case(spec: Spec, call: Call, word: str | None = None) -> Case:
    """The case of a call without an expectation; its outputs have the types that the facts give them."""
    call = call.trimmed()
    return Case(
        id=CaseId(spec.operator, FAMILY, word, call.digest(spec.operator)),
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

    What may be now a tensor and now something else is what the input of its type variable is.
    """
    names, found = output_names(spec, call), dict[str, ValueType]()
    given = {slot.name: slot.type for slot in call.slots if slot.type is not None}
    for output in spec.outputs:
        if output.name in names and is_sequence(spec, output):
            found[output.name] = sequence_type(_element_type(spec, call, output))
        elif output.name in names and is_structured(spec, output):
            like = [
                parameter.name
                for parameter in spec.inputs
                if parameter.type == output.type and parameter.name in given
            ]
            found.update((output.name, given[name]) for name in like[:1])
    return found


def _element_type(spec: Spec, call: Call, output: ParameterSpec) -> str:
    """That of the first input whose type variable an output has; else the first that it may have."""
    variable = type_variable(spec, output)
    for parameter in spec.inputs:
        if type_variable(spec, parameter) == variable:
            for tensor in call.tensors(parameter.name):
                if isinstance(tensor, Tensor):
                    return tensor.element_type.name
    return element_types_of(spec, output)[0]


def first_type(spec: Spec, call: Call) -> ElementType:
    """The element type that a case counts under: of its first input, or what its first output may be."""
    first = next((tensor for _, tensor in call.inputs if tensor is not None), None)
    if first is not None:
        return first.element_type
    known = [name for output in spec.outputs for name in element_types_of(spec, output)]
    return ELEMENT_TYPES["float" if "float" in known or not known else known[0]]
