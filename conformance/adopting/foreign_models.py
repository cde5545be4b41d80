"""ONNX models that somebody else wrote: what they hold, and the oldest versions that can hold it."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import GraphProto, ModelProto, NodeProto, TypeProto
from onnx.defs import OpSchema, SchemaError, get_schema, onnx_opset_version

from conformance.models.ir_versions import least_ir_version
from conformance.suite.proto_bounds import keeps_data_elsewhere, list_graphs
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

_RANDOM = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)
"""ONNX's operators whose output is random by their documents; Dropout beside them, in training alone."""


def parse_model(raw: bytes) -> ModelProto:
    """The model; raises UserError where it is none, or keeps data in other files."""
    model = ModelProto()
    try:
        model.ParseFromString(raw)
    except DecodeError as error:
        raise UserError("model.onnx is no ModelProto", got=str(error)) from error
    if not model.graph.node:
        raise UserError("model.onnx has no node")
    if keeps_data_elsewhere(model):
        raise UserError("the model keeps data in another file")
    return model


def list_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """Every node of a graph, and of the graphs within it."""
    for each in list_graphs(graph):
        yield from each.node


def find_schema(model: ModelProto, node: NodeProto) -> OpSchema | None:
    """The operator version that a node means; None where the onnx package does not know it."""
    version = _imported(model).get(_short(node.domain))
    if version is None or (not node.domain and version > onnx_opset_version()):
        return None
    try:
        return get_schema(node.op_type, version, _short(node.domain))
    except SchemaError:
        return None


def operator_of(model: ModelProto, node: NodeProto) -> OperatorName:
    """The node's operator version; of one that onnx does not know, the version of its domain.

    Raises UserError where the names are none that opcert can write.
    """
    schema = find_schema(model, node)
    version = schema.since_version if schema else _imported(model).get(_short(node.domain), 1)
    return OperatorName.parse(f"{_short(node.domain) or 'ai.onnx'}::{node.op_type}-{version}")


def is_random(model: ModelProto, constants: dict[str, float]) -> bool:
    """Whether an output is random. `constants` are the single-element inputs of the graph, by name."""
    for node in list_nodes(model.graph):
        if node.domain in ("", "ai.onnx") and node.op_type in _RANDOM:
            return True
        if node.op_type == "Dropout" and len(node.input) > 2:
            # Ratio is 0.5 where it is omitted; training_mode false.
            ratio = constants.get(node.input[1], 0.5)
            if ratio != 0 and constants.get(node.input[2], 1.0 if node.input[2] else 0.0) != 0:
                return True
    return False


def lower(model: ModelProto) -> None:
    """Bring a model to the oldest opsets and IR version that hold its operator versions, in place.

    An opset is lowered to the newest `since_version` of the operators used from it: all of them mean the same
    there. Models with functions of their own, or with operators that onnx does not know, stay as they are.
    """
    nodes = list(list_nodes(model.graph))
    schemas = [find_schema(model, each) for each in nodes]
    if model.functions or not all(schemas):
        return
    least: dict[str, int] = {}
    for node, schema in zip(nodes, schemas, strict=True):
        assert schema is not None
        domain = _short(node.domain)
        least[domain] = max(least.get(domain, 1), schema.since_version)
    for each in model.opset_import:
        each.version = min(each.version, least.get(_short(each.domain), each.version))
    types = {BY_CODE[code].name for code in _type_codes(model) if code in BY_CODE}
    model.ir_version = min(model.ir_version, least_ir_version(model.opset_import, types))


def _type_codes(model: ModelProto) -> Iterator[int]:
    for graph in list_graphs(model.graph):
        for each in (*graph.input, *graph.output, *graph.value_info):
            yield _type_code(each.type)
        for tensor in graph.initializer:
            yield tensor.data_type
        for node in graph.node:
            for attribute in node.attribute:
                yield attribute.t.data_type
                yield _type_code(attribute.tp)
                if (node.op_type, attribute.name) == ("SequenceEmpty", "dtype"):
                    yield attribute.i


def _type_code(declared: TypeProto) -> int:
    """The element type of a tensor, or of those in a sequence or an optional; 0 where there is none."""
    while (kind := declared.WhichOneof("value")) in ("optional_type", "sequence_type"):
        declared = getattr(declared, kind).elem_type
    return int(declared.tensor_type.elem_type)


def _imported(model: ModelProto) -> dict[str, int]:
    return {_short(each.domain): each.version for each in model.opset_import}


def _short(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain
