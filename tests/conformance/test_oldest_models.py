"""A case's model is of the oldest opset and IR version that hold its operator version: all of onnx.defs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx.defs import OpSchema, SchemaError, get_all_schemas_with_history, get_schema
from onnx.helper import VERSION_TABLE

from conformance.models.case_models import FORMS, OutputType, node_model
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import tensor

FLOAT = ELEMENT_TYPES["float"]
IR_OF_CONSTANTS = 4
"""Since then an initializer needs no graph input of its name."""


def ir_of_opset(domain: str, version: int) -> int:
    """The IR version of the first release of onnx that had an operator set, by onnx's table of releases."""
    column = {"": 2, "ai.onnx.ml": 3}[domain]
    rows = [row for row in VERSION_TABLE if len(row) > column]
    return min(int(row[1]) for row in rows if int(row[column]) >= version)


def model_of(schema: OpSchema, form: str) -> onnx.ModelProto:
    """The model of a call with as many inputs as the operator needs; what they hold plays no part."""
    operator = OperatorName(schema.domain or "ai.onnx", schema.name, schema.since_version)
    given = [(f"i{each}", tensor(np.zeros(1, np.float32))) for each in range(max(schema.min_input, 2))]
    case = Case(
        id=CaseId(operator, "cover", None, "0" * 12),
        element_type=FLOAT,
        attributes={},
        inputs=tuple(given),
        output_names=("Y",),
        demand="survive",
    )
    return node_model(case, [OutputType(FLOAT, 1)], next(each for each in FORMS if each == form))


def schemas(domain: str) -> Sequence[OpSchema]:
    return [schema for schema in get_all_schemas_with_history() if schema.domain == domain]


def is_held(schema: OpSchema, opset: int) -> bool:
    """Whether an operator set holds just this version of the operator."""
    try:
        return bool(get_schema(schema.name, opset, schema.domain).since_version == schema.since_version)
    except SchemaError:
        return False


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("domain", ["", "ai.onnx.ml"])
def test_every_operator_version(domain: str, form: str) -> None:
    found = schemas(domain)
    assert found
    for schema in found:
        model = model_of(schema, form)
        stated = {each.domain: each.version for each in model.opset_import}
        opset = stated[domain]
        assert is_held(schema, opset), schema.name
        assert not is_held(schema, opset - 1), schema.name
        needed = max(ir_of_opset(each, version) for each, version in stated.items())
        assert model.ir_version == max(needed, IR_OF_CONSTANTS if form == "initializers" else 3), schema.name


def test_there_are_as_many_as_onnx_has() -> None:
    assert sum(len(schemas(domain)) for domain in ("", "ai.onnx.ml")) > 600
