"""All tensors that stand in a model: weights, values of attributes, those of inner graphs and functions."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from conformance.checked_models.inlining import graphs_of


def tensors_of(model: ModelProto) -> Iterator[TensorProto]:
    """Each tensor of a model, as it stands there; who changes it changes the model."""
    yield from tensors_in(model.graph)
    for function in model.functions:
        for node in function.node:
            yield from _of_node(node)


def tensors_in(graph: GraphProto) -> Iterator[TensorProto]:
    """The same of a graph, and of those within it."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from _of_node(node)


def _of_node(node: NodeProto) -> Iterator[TensorProto]:
    for each in node.attribute:
        if each.HasField("t"):
            yield each.t
        yield from each.tensors
        for _, inner in graphs_of(each):
            yield from tensors_in(inner)
