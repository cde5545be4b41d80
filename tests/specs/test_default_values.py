"""Defaults as calls have them, beside what the documents print."""

from __future__ import annotations

import numpy as np
import pytest

from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from tests.specs.emitters.onnx_schemas import microsoft_schemas


@pytest.mark.parametrize(
    ("operator", "name", "printed", "value"),
    [
        ("ai.onnx::LeakyRelu-16", "alpha", 0.01, float(np.float32(0.01))),
        ("ai.onnx::MeanVarianceNormalization-13", "axes", [0, 2, 3], (0, 2, 3)),
        ("ai.onnx::Concat-13", "axis", None, None),
        ("ai.onnx::Resize-19", "mode", "nearest", "nearest"),
    ],
)
def test_a_default_is_what_a_call_has_where_it_is_written(
    operator: str, name: str, printed: object, value: object
) -> None:
    known = load_spec(OperatorName.parse(operator)).attributes[name]
    assert known.default == printed
    assert known.default_value == value
    if printed is not None:
        assert attribute(str(known.kind), printed).value == known.default_value


def test_defaults_that_pages_leave_out_are_those_that_onnx_runtime_registers() -> None:
    """What a declaration says of a schema is held against the schema, in the precision that calls have."""
    seen = 0
    for schema in microsoft_schemas():
        operator = OperatorName(schema.domain, schema.name, schema.since_version)
        registered = {each.name: each.default for each in schema.attributes}
        for name, known in load_spec(operator).attributes.items():
            origin = load_spec(operator).origins.get(f"attributes.{name}.default")
            if origin is not None and "ONNX Runtime registers" in str(origin):
                held = attribute(str(known.kind), registered[name]).value
                assert known.default_value == held, (operator, name)
                seen += 1
    assert seen >= 40
