"""Tests with sequences and optionals: how they are written, and what their adopted cases return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, OptionalProto, SequenceProto, TensorProto, TypeProto
from onnx.helper import (
    make_graph,
    make_model,
    make_operatorsetid,
    make_optional_type_proto,
    make_sequence_type_proto,
    make_tensor_type_proto,
    make_value_info,
)
from onnx.numpy_helper import from_array, to_array
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.models.case_models import build_model
from conformance.suite.cases import Case
from conformance.suite.protos import write_tensor
from opcert.vocabulary.tensors import Tensor

FLOATS = make_tensor_type_proto(TensorProto.FLOAT, None)
SEQUENCE = make_sequence_type_proto(FLOATS)
OPTIONAL = make_optional_type_proto(FLOATS)
OPTIONAL_SEQUENCE = make_optional_type_proto(SEQUENCE)


_NOTHING: dict[str, Any] = {}
"""An empty optional: the evaluator lets no operator return None."""


class Optional(OpRun):
    """ONNX's Optional, which gives back what it is given; the evaluator's own puts it into a list."""

    op_domain = ""

    def _run(self, held: Any = None, type: Any = None) -> tuple[Any]:  # noqa: A002 # the attribute's name
        return (_NOTHING if held is None else held,)


class OptionalHasElement(OpRun):
    """ONNX's OptionalHasElement, which knows what the Optional above makes of nothing."""

    op_domain = ""

    def _run(self, held: Any = None) -> tuple[Any]:
        return (np.array(held is not None and not isinstance(held, dict)),)


def evaluate_model(model: ModelProto, given: Mapping[str, Any]) -> list[Any]:
    """What the reference evaluator returns for a model, with an Optional that works."""
    evaluator = ReferenceEvaluator(model, new_ops=[Optional, OptionalHasElement])
    return [*evaluator.run(None, dict(given))]


def evaluate(case: Case) -> list[Tensor]:
    """What that evaluator returns for a case."""
    model = ModelProto.FromString(build_model(case))
    given = {name: to_array(write_tensor(tensor, name)) for name, tensor in case.inputs if tensor is not None}
    returned = evaluate_model(model, given)
    return [read_foreign_tensor(from_array(np.asarray(each))) for each in returned]


def take_apart(returned: Any, *, is_optional: bool) -> list[Any]:
    """What a runtime returned for one output of a test's own model, as the case's model says it."""
    told = [np.array(returned is not None)] if is_optional else []
    if returned is None:
        return told
    if isinstance(returned, list):
        return [*told, np.array(len(returned), np.int64), *returned]
    return [*told, returned]


def sequence_of(*elements: Any, **more: Any) -> SequenceProto:
    return SequenceProto(
        elem_type=SequenceProto.TENSOR, tensor_values=[tensor_of(element) for element in elements], **more
    )


def optional_of(held: Any) -> OptionalProto:
    """An optional that holds a sequence, a tensor, or nothing."""
    if held is None:
        return OptionalProto(elem_type=OptionalProto.UNDEFINED)
    if isinstance(held, SequenceProto):
        return OptionalProto(elem_type=OptionalProto.SEQUENCE, sequence_value=held)
    return OptionalProto(elem_type=OptionalProto.TENSOR, tensor_value=tensor_of(held))


def tensor_of(value: Any) -> TensorProto:
    if isinstance(value, TensorProto):
        return value
    return write_tensor(value, "") if isinstance(value, Tensor) else from_array(np.asarray(value))


def write_packed(
    folder: Path,
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, tuple[TypeProto, Any]],
    outputs: Mapping[str, tuple[TypeProto, Any]],
    opset: int = 16,
    domain: str = "",
    ir_version: int = 10,
) -> Path:
    """A test of nodes with one data set; every value is a message, or bytes in place of one."""
    taken, returned = (
        [make_value_info(name, kind) for name, (kind, _) in side.items()] for side in (inputs, outputs)
    )
    graph = make_graph(nodes, folder.name, taken, returned)
    model = make_model(graph, opset_imports=[make_operatorsetid(domain, opset)], ir_version=ir_version)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for side, values in (("input", inputs), ("output", outputs)):
        for position, (_, value) in enumerate(values.values()):
            if value is not None:
                raw = value if isinstance(value, bytes) else value.SerializeToString()
                (data / f"{side}_{position}.pb").write_bytes(raw)
    return folder
