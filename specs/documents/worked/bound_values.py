"""What example code gives to a node's inputs and expects of its outputs, under the operator's own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import element_type_of
from opcert.vocabulary.errors import UserError
from specs.documents.worked.example_calls import ExampleVariable, ExpectedCall
from specs.documents.worked.example_values import Built, SliceOfUnknown, Typed, UnknownValue
from specs.model.relations import Assignment, Relation
from specs.model.spec import ParameterSpec, Source, Value

Bound = tuple[tuple[str, Value | None], ...]


def bind_inputs(call: ExpectedCall, parameters: Sequence[ParameterSpec]) -> Bound:
    """The values of a call's inputs; an omitted one has the name ""."""
    return _bind(call.node.inputs, call.inputs, parameters, call, {})


def bind_outputs(
    call: ExpectedCall, parameters: Sequence[ParameterSpec], inputs: Sequence[ParameterSpec]
) -> Bound:
    """The values of a call's outputs; slices of an input refer to it by the operator's name for it."""
    variable_of = dict(zip([each for each in call.node.inputs if each], call.inputs or (), strict=False))
    formal_of = {
        variable_of[node_name]: name
        for name, node_name in zip(
            _formal_names(inputs, len(call.node.inputs)), call.node.inputs, strict=False
        )
        if node_name in variable_of
    }
    return _bind(call.node.outputs, call.outputs, parameters, call, formal_of)


def _bind(
    names: Sequence[str],
    given: Sequence[str] | None,
    parameters: Sequence[ParameterSpec],
    call: ExpectedCall,
    formal_of: Mapping[str, str],
) -> Bound:
    values = iter(given or ())
    bound: list[tuple[str, Value | None]] = []
    for name, node_name in zip(_formal_names(parameters, len(names)), names, strict=False):
        variable = next(values, None) if node_name else None
        found = call.variables.get(variable) if variable is not None else None
        bound.append((name if node_name else "", None if found is None else _stated(found, formal_of)))
    return tuple(bound)


def _formal_names(parameters: Sequence[ParameterSpec], count: int) -> list[str]:
    names = [each.name for each in parameters]
    if parameters and parameters[-1].option == "variadic":
        names += [parameters[-1].name] * (count - len(names))
    return names


def _stated(variable: ExampleVariable, formal_of: Mapping[str, str]) -> Value | None:
    """What is known of a variable; an array that a comment prints is the value of what code computes."""
    value, comment = variable.value, variable.comment
    if comment is not None and isinstance(value, UnknownValue) and comment.printed.shape is not None:
        printed = comment.printed
        return Value(printed.shape or (), printed.data, _type(value.dtype), comment.source, printed.decimals)
    return _value(value, variable.source, formal_of)


def _value(value: Any, source: Source, formal_of: Mapping[str, str]) -> Value | None:
    match value:
        case UnknownValue(shape=shape, dtype=dtype):
            return None if shape is None else Value(shape, None, _type(dtype), source)
        case SliceOfUnknown(name=name, index=index, shape=shape, dtype=dtype):
            if name not in formal_of or shape is None:
                return None
            relation = Relation(None, (Assignment((), formal_of[name], index),))
            return Value(shape, None, _type(dtype), source, None, relation)
        case Built(shape=shape, dtype=dtype, steps=steps):
            if any(each.source not in formal_of for each in steps):
                return None
            renamed = tuple(replace(each, source=formal_of[each.source]) for each in steps)
            return Value(shape, None, _type(dtype), source, None, Relation(shape, renamed))
        case Typed(shape=shape, data=data, element_type=element_type):
            return Value(shape, data, element_type, source)
        case list() if _is_sequence(value):
            items = tuple(_value(each, source, formal_of) for each in value)
            return Value((), None, None, source, items=items)
        case bool() | int() | float() | str() | list() | np.ndarray() | np.generic():
            return _array(value, source)
    return None


def _is_sequence(value: list[Any]) -> bool:
    """Whether a list holds tensors, not numbers."""
    return any(
        isinstance(each, np.ndarray | Typed | UnknownValue | SliceOfUnknown | Built) for each in value
    ) or (
        any(isinstance(each, list) for each in value)
        and all(isinstance(each, list) and _is_sequence(each) for each in value)
    )


def _array(value: Any, source: Source) -> Value | None:
    array = np.asarray(value)
    flat = array.reshape(-1).tolist()
    if all(isinstance(each, bool | int | float | str) for each in flat):
        return Value(array.shape, tuple(flat), _type(array.dtype), source)
    return None


def _type(dtype: np.dtype[Any] | None) -> str | None:
    if dtype is None:
        return None
    try:
        return element_type_of(dtype).name
    except UserError:
        return None
