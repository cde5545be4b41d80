"""The specs of ONNX pages against the schemas of the installed onnx package, on every structural field."""

from __future__ import annotations

from typing import Any

import onnx.defs
import pytest

from opcert.vocabulary.names import OperatorName
from specs.files.library import load_imported

OPERATORS = ("CenterCropPad-18", "Resize-10", "Resize-11", "Resize-13", "Resize-18", "Resize-19")
_OPTIONS = {
    onnx.defs.OpSchema.FormalParameterOption.Single: "single",
    onnx.defs.OpSchema.FormalParameterOption.Optional: "optional",
    onnx.defs.OpSchema.FormalParameterOption.Variadic: "variadic",
}


def _our_type(text: str) -> str:
    return text.removeprefix("tensor(").removesuffix(")") if text.startswith("tensor(") else text


def _parameters(parameters: Any) -> list[tuple[str, str, str, bool]]:
    return [
        (parameter.name, _OPTIONS[parameter.option], _our_type(parameter.type_str), parameter.is_homogeneous)
        for parameter in parameters
    ]


@pytest.mark.parametrize("name", OPERATORS)
def test_structure(name: str) -> None:
    operator = OperatorName.parse(f"ai.onnx::{name}")
    spec = load_imported(operator)
    schema = onnx.defs.get_schema(operator.name, operator.since_version, "")
    assert schema.since_version == operator.since_version
    assert set(spec.attributes) == set(schema.attributes)
    for attribute in spec.attributes.values():
        assert attribute.required == schema.attributes[attribute.name].required
    for ours, theirs in ((spec.inputs, schema.inputs), (spec.outputs, schema.outputs)):
        assert [(own.name, own.option, own.type, own.homogeneous) for own in ours] == _parameters(theirs)
    assert spec.input_arity is not None
    assert spec.output_arity is not None
    assert (spec.input_arity.least, spec.input_arity.most) == (schema.min_input, schema.max_input)
    assert (spec.output_arity.least, spec.output_arity.most) == (schema.min_output, schema.max_output)
    assert {
        type_constraint.name: set(type_constraint.types) for type_constraint in spec.type_constraints.values()
    } == {
        type_constraint.type_param_str: {_our_type(text) for text in type_constraint.allowed_type_strs}
        for type_constraint in schema.type_constraints
    }


@pytest.mark.parametrize("name", OPERATORS)
def test_defaults_found_in_prose_are_the_schema_s(name: str) -> None:
    operator = OperatorName.parse(f"ai.onnx::{name}")
    schema = onnx.defs.get_schema(operator.name, operator.since_version, "")
    for attribute in load_imported(operator).attributes.values():
        if attribute.has_default:
            value = onnx.helper.get_attribute_value(schema.attributes[attribute.name].default_value)
            assert (value.decode() if isinstance(value, bytes) else value) == attribute.default
