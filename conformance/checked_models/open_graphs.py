"""Graphs that take values from around their node: read, closed with values of their own, opened again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.checked_models.inlining import Binding, graphs_of
from conformance.checked_models.node_order import captured_names
from conformance.models.packing_nodes import GraphSurroundings, Value, is_packing
from conformance.suite.protos import declare_tensor, read_graph, write_tensor
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import ValueType

_AROUND, _WITHIN = "around_", "in_"
"""What the names of values begin with in open graphs: of those around the node, and of its graphs' own."""
_MOST_BYTES = 4 << 20


def names_around(node: NodeProto) -> dict[str, str]:
    """The names that a node's graphs take from around it, each with the one that it has in open graphs."""
    graphs = [graph for attribute in node.attribute for _, graph in graphs_of(attribute)]
    taken = sorted({str(name) for graph in graphs for name in captured_names(graph)})
    return {name: f"{_AROUND}{place}" for place, name in enumerate(taken)}


def open_graph(proto: AttributeProto, names: Mapping[str, str]) -> Graph:
    """The graph of an attribute, with these names of what is around; UserError where it cannot be carried."""
    if proto.ByteSize() > _MOST_BYTES:
        raise UserError("a graph that takes values from around it, and is too much to be read")
    holder = NodeProto()
    holder.attribute.add().CopyFrom(proto)
    Binding(names, {}, _WITHIN).bind(holder)
    (graph,) = (inner for _, inner in graphs_of(holder.attribute[0]))
    for inner in _every_graph(graph):
        for node in inner.node:
            node.ClearField("doc_string")  # where it stands in the model is no part of a call
    return read_graph(graph)


def closed(graph: Graph, values: Mapping[str, Value], kinds: Mapping[str, ValueType]) -> Graph:
    """An open graph that holds the values from around it as constants.

    Those of `kinds` are no tensors: nodes make them of constants.
    """
    proto = GraphProto.FromString(graph.raw)
    taken = captured_names(proto)
    packing = GraphSurroundings(proto)
    for name, value in sorted(values.items()):
        if name in taken and name in kinds:
            parts = packing.pack(name, kinds[name], value)
            proto.initializer.extend(write_tensor(part, each) for each, part in parts)
        elif name in taken and isinstance(value, Tensor):
            proto.initializer.append(write_tensor(value, name))
    packing.write_into(proto)
    return replace(graph, raw=bytes(proto.SerializeToString(deterministic=True)))


def held_values(graph: Graph, names: Collection[str]) -> dict[str, Tensor]:
    """The tensors that a closed graph holds: the values of these names, or what they are made of."""
    proto = GraphProto.FromString(graph.raw)
    held = [each for each in proto.initializer if {each.name, each.name.rpartition("_")[0]} & {*names}]
    return {each.name: read_foreign_tensor(each) for each in held}


def put_around(model: ModelProto, values: Mapping[str, Tensor], constant: Collection[str]) -> None:
    """Take values out of closed graphs: `constant` ones stay in the model, the others come with each run.

    So do the nodes that make sequences and optionals of them.
    """
    packing: dict[str, NodeProto] = {}
    for node in model.graph.node:
        for attribute in node.attribute:
            for _, graph in graphs_of(attribute):
                kept = [held for held in graph.initializer if held.name not in values]
                del graph.initializer[:]
                graph.initializer.extend(kept)
                packing |= {each.output[0]: each for each in graph.node if is_packing(each)}
                own = [each for each in graph.node if not is_packing(each)]
                del graph.node[:]
                graph.node.extend(own)
    whole = [*packing.values(), *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(whole)
    for name, value in values.items():
        if name in constant:
            model.graph.initializer.append(write_tensor(value, name))
        else:
            declare_tensor(model.graph.input.add(), name, value.element_type, value.shape)


def _every_graph(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for _, inner in graphs_of(attribute):
                yield from _every_graph(inner)
