"""Tensors and attributes as ONNX's messages, bit for bit: no library converts them on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, TensorProto, ValueInfoProto

from conformance.suite.graph_protos import read_graph, write_graph
from conformance.suite.type_protos import fill_type, read_type, write_type
from opcert.vocabulary.attributes import SPARSE, Attribute, AttributeKind
from opcert.vocabulary.element_types import BY_CODE, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import TensorType

_MOST_DIMENSIONS = 64
_MOST_ELEMENTS = 1 << 28
_ATTRIBUTE_TYPES: dict[AttributeKind, int] = {
    "int": AttributeProto.INT,
    "float": AttributeProto.FLOAT,
    "string": AttributeProto.STRING,
    "tensor": AttributeProto.TENSOR,
    "graph": AttributeProto.GRAPH,
    "type": AttributeProto.TYPE_PROTO,
    "ints": AttributeProto.INTS,
    "floats": AttributeProto.FLOATS,
    "strings": AttributeProto.STRINGS,
    "tensors": AttributeProto.TENSORS,
    "graphs": AttributeProto.GRAPHS,
    "types": AttributeProto.TYPE_PROTOS,
}
_KINDS = {code: kind for kind, code in _ATTRIBUTE_TYPES.items()}


def write_tensor(tensor: Tensor, name: str) -> TensorProto:
    """A TensorProto of any element type: raw little-endian bytes (6, 4 and 2 bits packed) or strings."""
    proto = TensorProto(name=name, data_type=tensor.element_type.code, dims=tensor.shape)
    if tensor.element_type.kind == "string":
        proto.string_data.extend(tensor.array.reshape(-1).tolist())
    elif tensor.element_type.is_packed:
        proto.raw_data = _pack(tensor.array, tensor.element_type.bits)
    else:
        proto.raw_data = tensor.to_bytes()
    return proto


def read_tensor(proto: TensorProto) -> Tensor:
    """The inverse of `write_tensor`; raises UserError where type, shape and bytes do not fit each other."""
    element_type = BY_CODE.get(proto.data_type)
    if element_type is None:
        raise UserError("tensor of an unknown element type", got=str(proto.data_type))
    shape = tuple(proto.dims)
    if len(shape) > _MOST_DIMENSIONS or min(shape, default=0) < 0:
        raise UserError("tensor of a shape that is none", got=str(shape[:_MOST_DIMENSIONS]))
    count = math.prod(shape)
    if count > _MOST_ELEMENTS:
        raise UserError("tensor of too many elements", got=str(count), expected=f"at most {_MOST_ELEMENTS}")
    if element_type.kind == "string":
        if len(proto.string_data) != count:
            raise UserError("string tensor of the wrong length", got=str(len(proto.string_data)))
        found = np.empty(count, dtype=np.object_)
        found[:] = list(proto.string_data)
        return Tensor(element_type, found.reshape(shape))
    if element_type.is_packed:
        return Tensor(element_type, _unpack(element_type, proto.raw_data, count).reshape(shape))
    return Tensor.from_bytes(element_type, shape, proto.raw_data)


def _pack(array: NDArray[Any], bits: int) -> bytes:
    """Elements of that many bits, the first in the lowest bits and without gaps; zeros fill the last byte."""
    flat = np.ascontiguousarray(array.reshape(-1)).view(np.uint8)
    each = np.unpackbits(flat.reshape(-1, 1), axis=1, bitorder="little")
    return np.packbits(each[:, :bits].reshape(-1), bitorder="little").tobytes()


def _unpack(element_type: ElementType, raw: bytes, count: int) -> NDArray[Any]:
    bits = element_type.bits
    if len(raw) != -(-count * bits // 8):
        raise UserError(f"{bits}-bit tensor data of the wrong length", got=f"{len(raw)} bytes")
    each = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[: count * bits]
    flat: NDArray[Any] = np.packbits(each.reshape(count, bits), axis=1, bitorder="little").reshape(-1)
    if element_type.kind == "signed":
        sign = 1 << (bits - 1)
        return (flat ^ np.uint8(sign)).astype(np.int8) - np.int8(sign)
    return flat


def declare_tensor(
    value: ValueInfoProto, name: str, element_type: ElementType, shape: Iterable[int | str | None]
) -> None:
    """Fill the declaration of a tensor; an extent is a number, a name for one, or open."""
    value.name = name
    fill_type(value.type, TensorType(element_type, tuple(shape)))


def write_attribute(name: str, attribute: Attribute) -> AttributeProto:
    """An AttributeProto of an attribute; its type is set even where a list is empty."""
    proto = AttributeProto()
    fill_attribute(proto, name, attribute)
    return proto


def fill_attribute(proto: AttributeProto, name: str, attribute: Attribute) -> None:
    """The same in a message that is there and empty."""
    proto.name = name
    proto.type = _ATTRIBUTE_TYPES[attribute.kind]  # type: ignore[assignment] # int enum
    value: Any = attribute.value
    match attribute.kind:
        case "int":
            proto.i = value
        case "float":
            proto.f = value
        case "string":
            proto.s = value.encode("utf-8", "surrogateescape")
        case "tensor":
            proto.t.CopyFrom(write_tensor(value, ""))
        case "graph":
            proto.g.CopyFrom(write_graph(value))
        case "type":
            proto.tp.CopyFrom(write_type(value))
        case "ints":
            proto.ints.extend(value)
        case "floats":
            proto.floats.extend(value)
        case "strings":
            proto.strings.extend(each.encode("utf-8", "surrogateescape") for each in value)
        case "tensors":
            proto.tensors.extend(write_tensor(each, "") for each in value)
        case "graphs":
            proto.graphs.extend(map(write_graph, value))
        case "types":
            proto.type_protos.extend(map(write_type, value))


def read_attribute(proto: AttributeProto) -> Attribute:
    """The inverse of `write_attribute`; raises UserError for what no case carries, with the reason."""
    kind = _KINDS.get(proto.type)
    if proto.type in (AttributeProto.SPARSE_TENSOR, AttributeProto.SPARSE_TENSORS):
        raise UserError("an attribute of a kind that no case carries", got=proto.name, expected=SPARSE)
    if proto.ref_attr_name:
        raise UserError("an attribute that refers to one of a function", got=proto.name)
    if kind is None:
        raise UserError("attribute of an unknown kind", got=f"{proto.name}: {proto.type}")
    value: Any
    match kind:
        case "int":
            value = proto.i
        case "float":
            value = proto.f
        case "string":
            value = proto.s.decode("utf-8", "surrogateescape")
        case "tensor":
            value = read_tensor(proto.t)
        case "graph":
            value = read_graph(proto.g)
        case "type":
            value = read_type(proto.tp)
        case "ints":
            value = tuple(proto.ints)
        case "floats":
            value = tuple(proto.floats)
        case "strings":
            value = tuple(each.decode("utf-8", "surrogateescape") for each in proto.strings)
        case "tensors":
            value = tuple(map(read_tensor, proto.tensors))
        case "graphs":
            value = tuple(map(read_graph, proto.graphs))
        case "types":
            value = tuple(map(read_type, proto.type_protos))
    return Attribute(kind, value)
