"""Inputs and outputs of declared operators that are more than tensors, and their type variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.value_types import (
    SequenceType,
    TensorType,
    ValueType,
    element_type_in,
    parse_value_type,
)
from specs.model.signature_parts import ParameterSpec, TypeConstraint

TENSOR = "tensor"
"""The form of a tensor."""
_PLAIN_MAP = re.compile(r"map\((\w+),\s*(\w+)\)")


class VersionSignature(Protocol):
    """An operator version with its inputs and types: a spec."""

    @property
    def inputs(self) -> tuple[ParameterSpec, ...]: ...

    @property
    def type_constraints(self) -> Mapping[str, TypeConstraint]: ...


def read_type(text: str) -> ValueType | None:
    """The type of a text in facts, where a tensor is its element type; None for what no case carries."""
    if text in ELEMENT_TYPES:
        return TensorType(ELEMENT_TYPES[text])
    try:
        return parse_value_type(_PLAIN_MAP.sub(r"map(\1,tensor(\2))", text))
    except UserError:
        return None


def type_of_form(form: str, element_type: str) -> ValueType:
    """The type that values of a form have, with tensors of that element type."""
    return parse_value_type(re.sub(r"\btensor\b", f"tensor({element_type})", form))


def form_of(kind: ValueType) -> str:
    """The form of values of a type, in which element types are left out: `seq(tensor)`."""
    return str(kind).replace(f"tensor({element_type_in(kind).name})", TENSOR)


@lru_cache(maxsize=1024)
def _forms(types: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The forms of listed types, and the element types of tensors in those that are no tensors."""
    forms: dict[str, None] = {}
    inside: dict[str, None] = {}
    for text in types:
        kind = read_type(text)
        if kind is None:
            continue
        forms[form_of(kind)] = None
        if not isinstance(kind, TensorType):
            inside[element_type_in(kind).name] = None
    return tuple(forms), tuple(inside)


def forms_of(spec: VersionSignature, parameter: ParameterSpec) -> tuple[str, ...]:
    """The forms of an input or output, element types apart: `tensor`, `seq(tensor)`, `map(int64,tensor)`.

    Each tensor of a variadic one has a form of its own, which is that of a tensor here.
    """
    return (TENSOR,) if parameter.option == "variadic" else listed_forms(spec, parameter)


def listed_forms(spec: VersionSignature, parameter: ParameterSpec) -> tuple[str, ...]:
    """The same, of each tensor or other value of a variadic one as well."""
    return _forms(listed_types(spec, parameter))[0]


def is_structured(spec: VersionSignature, parameter: ParameterSpec) -> bool:
    """Whether an input may be an optional, a map, or now a tensor and now a sequence: its form is chosen."""
    forms = forms_of(spec, parameter)
    return any(form != TENSOR for form in forms) and not is_sequence(spec, parameter)


def sequence_types(spec: VersionSignature, parameter: ParameterSpec) -> tuple[str, ...]:
    """The element types of the tensors in a sequence; none where the input or output is no sequence alone."""
    return _in_sequences(listed_types(spec, parameter))


def listed_types(spec: VersionSignature, parameter: ParameterSpec) -> tuple[str, ...]:
    """The types of an input or output as facts write them."""
    known = spec.type_constraints.get(parameter.type)
    return tuple(known.types) if known is not None else (parameter.type,)


@lru_cache(maxsize=1024)
def _in_sequences(types: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for text in types:
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


def is_sequence(spec: VersionSignature, parameter: ParameterSpec) -> bool:
    """Whether an input or output is a sequence of tensors by its type."""
    return bool(sequence_types(spec, parameter))


def holds_several(spec: VersionSignature, parameter: ParameterSpec) -> bool:
    """Whether an input or output may have several tensors: it is variadic, or a sequence."""
    return parameter.option == "variadic" or is_sequence(spec, parameter)


def element_types_of(spec: VersionSignature, parameter: ParameterSpec) -> tuple[str, ...]:
    """The element types of an input or output, or of the tensors in it."""
    return element_types_within(listed_types(spec, parameter))


@lru_cache(maxsize=1024)
def element_types_within(types: tuple[str, ...]) -> tuple[str, ...]:
    """The element types among listed types, and of the tensors in those that are none."""
    plain = (each for each in types if each in ELEMENT_TYPES)
    return tuple(dict.fromkeys((*plain, *_forms(types)[1])))


def type_variable(spec: VersionSignature, parameter: ParameterSpec) -> str:
    """The variable that an input's element type is: of a sequence that of tensors with the same types.

    Documents give `seq(tensor(T))` a letter of its own beside that of `T`.
    """
    inside = sequence_types(spec, parameter)
    if not inside:
        return parameter.type
    for name, type_constraint in spec.type_constraints.items():
        if tuple(one for one in type_constraint.types if one in ELEMENT_TYPES) == inside:
            return name
    return parameter.type


@dataclass(frozen=True)
class InputForm:
    """An input with what its type says: see the functions of these names."""

    parameter: ParameterSpec
    element_types: tuple[str, ...]
    type_variable: str
    holds_several: bool
    is_structured: bool


def input_forms(spec: VersionSignature) -> Mapping[str, InputForm]:
    """The inputs of an operator version by name, with what their types say."""
    return {
        parameter.name: InputForm(
            parameter,
            element_types_of(spec, parameter),
            type_variable(spec, parameter),
            holds_several(spec, parameter),
            is_structured(spec, parameter),
        )
        for parameter in spec.inputs
    }


def sequence_type(element_type: str) -> SequenceType:
    """`seq(tensor(T))` of an element type."""
    return SequenceType(TensorType(ELEMENT_TYPES[element_type]))
