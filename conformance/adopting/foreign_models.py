"""ONNX models that somebody else wrote: what they hold, and the oldest versions that can hold it.

A case has plain tensors: nodes around a test's own graph pack them into sequences and optionals. An input
becomes a tensor for each of its elements, and nodes that make it of them: SequenceConstruct or
SequenceEmpty, and Optional. An output becomes its OptionalHasElement or SequenceLength, and what it is
expected to hold: OptionalGetElement, SequenceAt of each position. What a test expects decides what is asked
of an output, so that a model belongs to one data set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto
from onnx.defs import OpSchema, SchemaError, get_schema, onnx_opset_version

from conformance.adopting.foreign_values import DataSet, DeclaredValue, declared_inputs, declared_outputs
from conformance.models.ir_versions import LEAST_IR, least_ir_version
from conformance.models.packing_nodes import GraphSurroundings, Value, import_operators, is_packing
from conformance.suite.proto_bounds import keeps_data_elsewhere, list_graphs
from conformance.suite.protos import declare_tensor
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

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
    for graph_proto in list_graphs(graph):
        yield from graph_proto.node


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
    schemas = [find_schema(model, node) for node in nodes]
    if model.functions or not all(schemas):
        return
    least: dict[str, int] = {}
    for node, schema in zip(nodes, schemas, strict=True):
        assert schema is not None
        domain = _short(node.domain)
        least[domain] = max(least.get(domain, 1), schema.since_version)
    for opset in model.opset_import:
        opset.version = min(opset.version, least.get(_short(opset.domain), opset.version))
    types = {BY_CODE[code].name for code in _type_codes(model) if code in BY_CODE}
    model.ir_version = min(model.ir_version, least_ir_version(model.opset_import, types))


def _type_codes(model: ModelProto) -> Iterator[int]:
    for graph in list_graphs(model.graph):
        for value_info in (*graph.input, *graph.output, *graph.value_info):
            yield _type_code(value_info.type)
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
    return {_short(opset.domain): opset.version for opset in model.opset_import}


def _short(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


Named = tuple[tuple[str, Tensor], ...]


@dataclass(frozen=True, eq=False)
class PackedModel:
    """A model that takes and gives tensors alone, and what a data set gives to it and expects of it, by name.

    `outputs` is empty where nothing is expected.
    """

    model: ModelProto
    inputs: Named
    outputs: Named


def pack_values(model: ModelProto, data: DataSet) -> PackedModel:
    """The model that a data set is for; `model` itself where all that it takes and gives are tensors.

    Raises UserError where the model's operator set is older than the operators that pack, or where it has two
    values of one name.
    """
    inputs, outputs = declared_inputs(model), declared_outputs(model)
    if all(declared_value.is_tensor for declared_value in (*inputs, *outputs)):
        return PackedModel(model, _tensors(data.inputs), _tensors(data.outputs))
    for name, number in Counter(declared_value.name for declared_value in inputs).items():
        if number > 1:
            raise UserError("two inputs of the model have one name", got=repr(name)[:50])
    packed = ModelProto()
    packed.CopyFrom(model)
    around = GraphSurroundings(packed.graph)
    given = _pack_inputs(packed, data, around)
    expected = _unpack_outputs(packed, outputs, data, around)
    around.write_into(packed.graph)
    import_operators(packed, [*around.before, *around.after])
    packed.ir_version = max(packed.ir_version, LEAST_IR)
    return PackedModel(packed, given, expected)


def own_nodes(model: ModelProto) -> list[NodeProto]:
    """The graph's nodes without those that pack and unpack."""
    return [node for node in model.graph.node if not is_packing(node)] or [*model.graph.node]


def is_packed(model: ModelProto) -> bool:
    """Whether a model packs or unpacks values."""
    return any(map(is_packing, model.graph.node))


def length_outputs(model: ModelProto) -> frozenset[str]:
    """The outputs that are the length of a sequence, which no tolerance of a test is meant for."""
    lengths = (node for node in model.graph.node if is_packing(node) and node.op_type == "SequenceLength")
    return frozenset(name for node in lengths for name in node.output)


def _tensors(values: Sequence[tuple[DeclaredValue, Value]]) -> Named:
    return tuple((declared.name, value) for declared, value in values if isinstance(value, Tensor))


def _pack_inputs(model: ModelProto, data: DataSet, around: GraphSurroundings) -> Named:
    """Put tensors in place of the graph's inputs; those that are tensors, or not given, stay as they are."""
    values = {declared.name: (declared, value) for declared, value in data.inputs}
    taken: list[ValueInfoProto] = []
    given: list[tuple[str, Tensor]] = []
    for value_info in model.graph.input:
        declared, value = values.get(value_info.name, (None, None))
        if declared is None or declared.is_tensor:
            taken.append(value_info)
            given.extend([(value_info.name, value)] if isinstance(value, Tensor) else [])
            continue
        parts = around.pack(declared.name, declared.type, value, value_info.type.optional_type.elem_type)
        taken.extend(_declared(name, part, part.shape) for name, part in parts)
        given.extend(parts)
    del model.graph.input[:]
    model.graph.input.extend(taken)
    return tuple(given)


def _unpack_outputs(
    model: ModelProto, outputs: Sequence[DeclaredValue], data: DataSet, around: GraphSurroundings
) -> Named:
    """Put tensors in place of the graph's outputs; of what nothing is expected only whether it is there."""
    values = [value for _, value in data.outputs] or [None] * len(outputs)
    returned: list[ValueInfoProto] = []
    expected: list[tuple[str, Tensor]] = []
    for value_info, declared, value in zip(model.graph.output, outputs, values, strict=True):
        if declared.is_tensor:
            returned.append(value_info)
            expected.extend([(value_info.name, value)] if isinstance(value, Tensor) else [])
            continue
        parts = around.unpack(declared.name, declared.type, value)
        returned.extend(_declared(name, part, [None] * len(part.shape)) for name, part in parts)
        expected.extend(parts)
    del model.graph.output[:]
    model.graph.output.extend(returned)
    return tuple(expected) if data.outputs else ()


def _declared(name: str, value: Tensor, shape: Sequence[int | None]) -> ValueInfoProto:
    declared = ValueInfoProto()
    declare_tensor(declared, name, value.element_type, shape)
    return declared
