"""Sequences and optionals as the plain tensors that a case has: nodes around a test's own graph pack them.

A graph's input becomes a tensor for each of its elements, and nodes that make it of them: SequenceConstruct
or SequenceEmpty, and Optional. An output becomes its OptionalHasElement or SequenceLength, and what it is
expected to hold: OptionalGetElement, SequenceAt of each position. What a test expects decides what is asked
of an output, so that a model belongs to one data set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from onnx import ModelProto, NodeProto, ValueInfoProto

from conformance.adopting.foreign_values import DataSet, DeclaredValue, declared_inputs, declared_outputs
from conformance.models.ir_versions import LEAST_IR
from conformance.models.packing_nodes import GraphSurroundings, Value, import_operators, is_packing
from conformance.suite.protos import declare_tensor
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

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
    if all(each.is_tensor for each in (*inputs, *outputs)):
        return PackedModel(model, _tensors(data.inputs), _tensors(data.outputs))
    for name, number in Counter(each.name for each in inputs).items():
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
    return [each for each in model.graph.node if not is_packing(each)] or [*model.graph.node]


def is_packed(model: ModelProto) -> bool:
    """Whether a model packs or unpacks values."""
    return any(map(is_packing, model.graph.node))


def length_outputs(model: ModelProto) -> frozenset[str]:
    """The outputs that are the length of a sequence, which no tolerance of a test is meant for."""
    lengths = (each for each in model.graph.node if is_packing(each) and each.op_type == "SequenceLength")
    return frozenset(name for node in lengths for name in node.output)


def _tensors(values: Sequence[tuple[DeclaredValue, Value]]) -> Named:
    return tuple((declared.name, value) for declared, value in values if isinstance(value, Tensor))


def _pack_inputs(model: ModelProto, data: DataSet, around: GraphSurroundings) -> Named:
    """Put tensors in place of the graph's inputs; those that are tensors, or not given, stay as they are."""
    values = {declared.name: (declared, value) for declared, value in data.inputs}
    taken: list[ValueInfoProto] = []
    given: list[tuple[str, Tensor]] = []
    for each in model.graph.input:
        declared, value = values.get(each.name, (None, None))
        if declared is None or declared.is_tensor:
            taken.append(each)
            given.extend([(each.name, value)] if isinstance(value, Tensor) else [])
            continue
        parts = around.pack(declared.name, declared.type, value, each.type.optional_type.elem_type)
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
    for each, declared, value in zip(model.graph.output, outputs, values, strict=True):
        if declared.is_tensor:
            returned.append(each)
            expected.extend([(each.name, value)] if isinstance(value, Tensor) else [])
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
