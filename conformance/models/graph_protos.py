"""Graphs as attributes of a node: messages from outside, of which nothing may lie elsewhere."""

from __future__ import annotations

from onnx import GraphProto

from conformance.models.proto_bounds import check_bounds
from conformance.suite.carried_models import keeps_data_elsewhere
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.errors import UserError


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
    return Graph(raw)
