"""Graphs as attributes of a node: messages from outside, of which nothing may lie elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import GraphProto, ValueInfoProto

from conformance.suite.carried_models import keeps_data_elsewhere
from conformance.suite.proto_bounds import check_bounds
from conformance.suite.type_protos import read_type
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.value_types import ValueType


def write_graph(graph: Graph) -> GraphProto:
    """The message of a graph, whose bytes are those of one."""
    proto = GraphProto()
    proto.ParseFromString(graph.raw)
    return proto


def read_graph(proto: GraphProto) -> Graph:
    """The graph of a message; raises UserError where it keeps data in another file, or is too much."""
    if keeps_data_elsewhere(proto):
        raise UserError("a graph that keeps data in another file")
    raw = bytes(proto.SerializeToString(deterministic=True))
    try:
        check_bounds(raw, GraphProto)
    except ValueError as error:
        raise UserError("a graph with too much structure", got=str(error)) from error
    return Graph(raw, _types(proto.input), _types(proto.output))


def _types(values: Iterable[ValueInfoProto]) -> tuple[ValueType | None, ...]:
    found: list[ValueType | None] = []
    for each in values:
        try:
            found.append(read_type(each.type))
        except UserError:
            found.append(None)  # a graph may leave the type of what it takes or gives out
    return tuple(found)
