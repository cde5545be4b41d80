"""ONNX models that a case carries: somebody else's files, of which nothing may lie outside the case."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import Message  # type: ignore[import-untyped] # protobuf ships no types
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto

from conformance.suite.proto_bounds import check_bounds


def keeps_data_elsewhere(model: Message) -> bool:
    """Whether any tensor of a model or graph, however deep, has its data in another file."""
    return any(map(_is_elsewhere, _tensors(model)))


def check_carried(raw: bytes) -> bytes:
    """A serialized model as it is; ValueError where it keeps data elsewhere or has too
    much structure, DecodeError where it is none."""
    check_bounds(raw, ModelProto)
    if keeps_data_elsewhere(ModelProto.FromString(raw)):
        raise ValueError("its model keeps data in another file")
    return raw


def list_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """A graph, and every one in attributes of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs) if _has_graph(attribute) else ():
                yield from list_graphs(inner)


def _has_graph(attribute: AttributeProto) -> bool:
    return attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def _is_elsewhere(tensor: TensorProto) -> bool:
    return bool(tensor.data_location == TensorProto.EXTERNAL or tensor.external_data)


def _tensors(message: Message) -> list[TensorProto]:
    found = [message] if isinstance(message, TensorProto) else []
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in (value,) if isinstance(value, Message) else value:
                found += _tensors(each)
    return found
