"""Element types that an operator's schema gives to outputs of which shape inference says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from onnx.defs import OpSchema, SchemaError, get_schema

from conformance.checked_models.model_calls import ModelValue
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName

Values = Sequence[ModelValue | None]


def with_schema_types(operator: OperatorName, inputs: Values, outputs: Values) -> list[ModelValue | None]:
    """A node's outputs, those without a type with the one that the schema fixes, or that an input has.

    Schemas of ai.onnx.ml, for one, come without inference; where such a node stands, every one behind it
    would be of unknown types. Shapes stay unknown.
    """
    found = list(outputs)
    if all(each is None or not _is_unknown(each) for each in found):
        return found
    schema = _schema(operator)
    if schema is None:
        return found
    known = {
        formal.type_str: each.element_type
        for formal, each in zip(_spread(schema.inputs, len(inputs)), inputs, strict=False)
        if each is not None and each.element_type is not None
    }
    allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    for place, formal in enumerate(_spread(schema.outputs, len(found))):
        each = found[place]
        if each is None or not _is_unknown(each):
            continue
        choices = allowed.get(formal.type_str, [formal.type_str])
        name = known.get(formal.type_str) if formal.type_str in allowed else None
        name = name or (_element_type(choices[0]) if len(choices) == 1 else None)
        if name is not None:
            found[place] = replace(each, element_type=name)
    return found


def _is_unknown(value: ModelValue) -> bool:
    return value.element_type is None and value.kind is None


@cache
def _schema(operator: OperatorName) -> OpSchema | None:
    domain = "" if operator.domain == "ai.onnx" else operator.domain
    try:
        return get_schema(operator.name, operator.since_version, domain)
    except SchemaError:
        return None


def _spread(formals: Sequence[Any], count: int) -> list[Any]:
    """The formal parameter of each of so many values: a variadic one, which comes last, is all others'."""
    found = list(formals[:count])
    variadic = OpSchema.FormalParameterOption.Variadic
    if found and formals[-1].option == variadic and formals[-1].is_homogeneous:
        found += [formals[-1]] * (count - len(found))
    return found


def _element_type(text: str) -> str | None:
    name = text.removeprefix("tensor(").removesuffix(")")
    return name if text.startswith("tensor(") and name in ELEMENT_TYPES else None
