"""Print the facts of the schemas of com.microsoft as JSON; runs in ONNX Runtime's own environment.

Defaults are the hexadecimal digits of a serialized AttributeProto, for there may be no onnx package here.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state


def _parameters(parameters: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": parameter.name,
            "option": parameter.option.name.lower(),
            "type": parameter.typeStr,
            "homogeneous": parameter.isHomogeneous,
        }
        for parameter in parameters
    ]


def _schema(schema: Any) -> dict[str, Any]:
    return {
        "domain": schema.domain,
        "name": schema.name,
        "since_version": schema.since_version,
        "deprecated": schema.deprecated,
        "experimental": schema.support_level.name == "EXPERIMENTAL",
        "attributes": [
            {
                "name": name,
                "type": attribute.type.name,
                "required": attribute.required,
                "default": attribute._default_value.hex(),
            }
            for name, attribute in sorted(schema.attributes.items())
        ],
        "inputs": _parameters(schema.inputs),
        "outputs": _parameters(schema.outputs),
        "constraints": [
            {"name": type_constraint.type_param_str, "types": list(type_constraint.allowed_type_strs)}
            for type_constraint in schema.type_constraints
        ],
        "input_arity": [schema.min_input, schema.max_input],
        "output_arity": [schema.min_output, schema.max_output],
    }


wanted = [each for each in state.get_all_operator_schema() if each.domain == "com.microsoft"]
wanted.sort(key=lambda each: (each.name, each.since_version))
json.dump({"onnxruntime": onnxruntime.__version__, "schemas": [_schema(each) for each in wanted]}, sys.stdout)
