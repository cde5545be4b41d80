"""Models made by hand for the tests of the reader: whole ones, and pieces of hostile ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
)

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.model_reading import read_model

Shape = Sequence[int | str | None] | None


def given(name: str, shape: Shape = ("N", 4), code: int = TensorProto.FLOAT) -> ValueInfoProto:
    """The declaration of a tensor."""
    return helper.make_tensor_value_info(name, code, shape)


def graph_of(
    nodes: Sequence[NodeProto],
    outputs: Sequence[str],
    inputs: Sequence[ValueInfoProto] = (),
    initializers: Sequence[TensorProto] = (),
) -> GraphProto:
    """A graph whose outputs are floats of any shape."""
    return helper.make_graph(
        list(nodes), "graph", list(inputs), [given(output, None) for output in outputs], list(initializers)
    )


def model_of(
    graph: GraphProto,
    opsets: Mapping[str, int] | None = None,
    functions: Sequence[FunctionProto] = (),
    ir_version: int = 9,
) -> ModelProto:
    """The model of a graph, of opset 17 where nothing else is said."""
    imports = [helper.make_opsetid(domain, version) for domain, version in (opsets or {"": 17}).items()]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=ir_version)


def read(model: ModelProto | bytes, folder: Path, seconds: float = 0) -> ModelFacts:
    """What the reader says of a model in a file; shapes are inferred where there are seconds for it."""
    path = folder / "model.onnx"
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return read_model(path, seconds=seconds)


def outside_tensor(name: str, dims: Sequence[int], **said: str) -> TensorProto:
    """A float tensor whose data are in another file."""
    found = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in said.items():
        found.external_data.add(key=key, value=value)
    return found


def referring(name: str, to: str) -> AttributeProto:
    """A node's attribute that is the function's attribute `to`."""
    return AttributeProto(name=name, ref_attr_name=to, type=AttributeProto.FLOAT)
