"""Inputs and outputs of declared operators that are sequences, and the type variables that go with them."""

from __future__ import annotations

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.value_types import SequenceType, TensorType, parse_value_type
from specs.model import ParameterSpec, Spec


def sequence_types(spec: Spec, parameter: ParameterSpec) -> tuple[str, ...]:
    """The element types of the tensors in a sequence; none where the input or output is no sequence alone."""
    known = spec.type_constraints.get(parameter.type)
    found = []
    for text in known.types if known is not None else (parameter.type,):
        if text in ELEMENT_TYPES:
            return ()
        try:
            kind = parse_value_type(text)
        except UserError:
            return ()
        if not isinstance(kind, SequenceType) or not isinstance(kind.of, TensorType):
            return ()
        found.append(kind.of.element_type.name)
    return tuple(found)


def is_sequence(spec: Spec, parameter: ParameterSpec) -> bool:
    """Whether an input or output is a sequence of tensors by its type."""
    return bool(sequence_types(spec, parameter))


def holds_several(spec: Spec, parameter: ParameterSpec) -> bool:
    """Whether an input or output may have several tensors: it is variadic, or a sequence."""
    return parameter.option == "variadic" or is_sequence(spec, parameter)


def element_types_of(spec: Spec, parameter: ParameterSpec) -> tuple[str, ...]:
    """The element types of an input or output, or of the tensors in it."""
    return spec.types_of(parameter) or sequence_types(spec, parameter)


def type_variable(spec: Spec, parameter: ParameterSpec) -> str:
    """The variable that an input's element type is: of a sequence that of tensors with the same types.

    Documents give `seq(tensor(T))` a letter of its own beside that of `T`.
    """
    inside = sequence_types(spec, parameter)
    if not inside:
        return parameter.type
    for name, each in spec.type_constraints.items():
        if tuple(one for one in each.types if one in ELEMENT_TYPES) == inside:
            return name
    return parameter.type


def sequence_type(element_type: str) -> SequenceType:
    """`seq(tensor(T))` of an element type."""
    return SequenceType(TensorType(ELEMENT_TYPES[element_type]))
