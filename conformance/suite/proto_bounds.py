"""Messages from outside: how much of them is structure, which takes many times its bytes once it is parsed,
and whether anything of them lies in another file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf.message import Message  # type: ignore[import-untyped] # protobuf ships no types
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto


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


MOST_STRUCTURE = 4 << 20
"""Bytes of a message without the contents of its fields of bytes, such as `raw_data`."""
_DEEPEST = 64
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_SKIPPED, _COUNTED = "skipped", "counted"


def check_bounds(raw: bytes, kind: Any) -> None:
    """Raise ValueError where serialized bytes of a message class have too much structure, or none.

    Such a message of a few megabytes may be one of gigabytes in memory.
    """
    _Walk(raw).message(0, len(raw), kind.DESCRIPTOR, 0)


def parse_graph(raw: bytes) -> GraphProto:
    """The graph of serialized bytes within the same bounds.

    Raises ValueError as `check_bounds` does, DecodeError where the bytes are no message. No message has more
    structure than bytes, so that of a short one its depth alone is left to be looked at, and only where it
    holds what can be nested without end.
    """
    if len(raw) > MOST_STRUCTURE:
        check_bounds(raw, GraphProto)
    graph = GraphProto()
    graph.ParseFromString(raw)
    if may_nest(graph):
        check_bounds(raw, GraphProto)
    return graph


def may_nest(graph: GraphProto) -> bool:
    """Whether a graph holds graphs or types, of which alone another one of the same kind may be a part."""
    if graph.input or graph.output or graph.value_info:
        return True
    return any(
        attribute.graphs or attribute.type_protos or attribute.HasField("g") or attribute.HasField("tp")
        for node in graph.node
        for attribute in node.attribute
    )


class _Walk:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._seen = 0

    def message(self, at: int, end: int, descriptor: Any, depth: int) -> None:
        if depth > _DEEPEST:
            raise ValueError(f"a message nested more than {_DEEPEST} deep")
        fields = _fields(descriptor)
        while at < end:
            begin = at
            tag, at = self._varint(at, end)
            wire = tag & 7
            if wire == _DELIMITED:
                length, at = self._varint(at, end)
                if at + length > end:
                    raise ValueError("a message that ends early")
                self._count(at - begin)
                inner = fields.get(tag >> 3, _COUNTED)
                if inner is _COUNTED:
                    self._count(length)
                elif inner is not _SKIPPED:
                    self.message(at, at + length, inner, depth + 1)
                at += length
                continue
            if wire == _VARINT:
                _, at = self._varint(at, end)
            elif wire in (_FIXED32, _FIXED64):
                at += 4 if wire == _FIXED32 else 8
            else:
                raise ValueError("a message with a group")
            self._count(at - begin)
        if at > end:
            raise ValueError("a message that ends early")

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        number = 0
        for shift in range(0, 70, 7):
            if at >= end:
                raise ValueError("a message that ends early")
            byte = self._raw[at]
            at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number, at
        raise ValueError("a number of too many bytes")

    def _count(self, number: int) -> None:
        self._seen += number
        if self._seen > MOST_STRUCTURE:
            raise ValueError(f"a message with more than {MOST_STRUCTURE} bytes beside its raw data")


@cache
def _fields(descriptor: Any) -> dict[int, Any]:
    """What to do with each field that has a length: look into it, skip its content, or count it."""
    found: dict[int, Any] = {}
    for field in descriptor.fields:
        if field.message_type is not None:
            found[field.number] = field.message_type
        elif field.type == field.TYPE_BYTES:
            found[field.number] = _SKIPPED
    return found
