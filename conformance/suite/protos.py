"""Tensors, types, graphs and attributes as ONNX's messages, bit for bit: no library converts them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import numpy as np
from google.protobuf.message import Message  # type: ignore[import-untyped] # protobuf ships no types
from numpy.typing import NDArray
from onnx import (
    AttributeProto,
    GraphProto,
    MapProto,
    OptionalProto,
    SequenceProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
)

from conformance.suite.flat_values import MapValue, Value
from conformance.suite.proto_bounds import check_bounds, keeps_data_elsewhere
from opcert.vocabulary.attributes import SPARSE, Attribute, AttributeKind, Graph
from opcert.vocabulary.element_types import BY_CODE, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import Extent, MapType, OptionalType, SequenceType, TensorType, ValueType

_MOST_DEPTH = 8


def write_type(kind: ValueType) -> TypeProto:
    """The message of a type."""
    proto = TypeProto()
    fill_type(proto, kind)
    return proto


def fill_type(proto: TypeProto, kind: ValueType) -> None:
    """The same in a message that is there and empty."""
    match kind:
        case TensorType():
            proto.tensor_type.elem_type = kind.element_type.code
            if kind.shape is not None:
                proto.tensor_type.shape.SetInParent()
                for extent in kind.shape:
                    dimension = proto.tensor_type.shape.dim.add()
                    if isinstance(extent, int):
                        dimension.dim_value = extent
                    elif extent is not None:
                        dimension.dim_param = extent
        case SequenceType():
            proto.sequence_type.elem_type.CopyFrom(write_type(kind.of))
        case OptionalType():
            proto.optional_type.elem_type.CopyFrom(write_type(kind.of))
        case MapType():
            proto.map_type.key_type = kind.key.code
            proto.map_type.value_type.CopyFrom(write_type(kind.of))


def read_type(proto: TypeProto, depth: int = 0) -> ValueType:
    """The type of a message; raises UserError for what no case carries: sparse tensors, opaque types."""
    if depth > _MOST_DEPTH:
        raise UserError("a type nested too deeply", expected=f"at most {_MOST_DEPTH}")
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _read_tensor(proto.tensor_type)
        case "sequence_type":
            return SequenceType(read_type(proto.sequence_type.elem_type, depth + 1))
        case "optional_type":
            return OptionalType(read_type(proto.optional_type.elem_type, depth + 1))
        case "map_type":
            of = read_type(proto.map_type.value_type, depth + 1)
            key = _element_type(proto.map_type.key_type)
            if isinstance(of, TensorType) and of.shape in (None, ()):
                return MapType(key, of)
            raise UserError("a map of something else than single elements", got=str(of))
    found = proto.WhichOneof("value") or "nothing"
    raise UserError("a type that no case carries", got=found.removesuffix("_type").replace("_", " "))


def _read_tensor(proto: TypeProto.Tensor) -> TensorType:
    element_type = _element_type(proto.elem_type)
    if not proto.HasField("shape"):
        return TensorType(element_type)
    if len(proto.shape.dim) > _MOST_DIMENSIONS:
        raise UserError("a type of too many dimensions", got=str(len(proto.shape.dim)))
    extents: list[Extent] = []
    for each in proto.shape.dim:
        if each.HasField("dim_value"):
            extents.append(each.dim_value)
        else:
            # A name that a type's text cannot have, as exporters make some, is one of nothing else.
            extents.append(each.dim_param if each.dim_param.isidentifier() else None)
    if any(isinstance(extent, int) and extent < 0 for extent in extents):
        raise UserError("a type with a wrong dimension", got=str(extents)[:100])
    return TensorType(element_type, tuple(extents))


def _element_type(code: int) -> ElementType:
    found = BY_CODE.get(code)
    if found is None:
        raise UserError("a type of an element type that is not known", got=str(code))
    return found


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
    for value in values:
        try:
            found.append(read_type(value.type))
        except UserError:
            found.append(None)  # a graph may leave the type of what it takes or gives out
    return tuple(found)


_MOST_DIMENSIONS = 64
_MOST_ELEMENTS = 1 << 28


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


def write_value(kind: ValueType, value: Value, name: str) -> Message:
    """A value as ONNX's messages have it: TensorProto, SequenceProto, MapProto, OptionalProto."""
    match kind, value:
        case TensorType(), Tensor():
            return write_tensor(value, name)
        case SequenceType(), tuple():
            many = SequenceProto(name=name)
            is_of_maps = isinstance(kind.of, MapType)
            many.elem_type = SequenceProto.MAP if is_of_maps else SequenceProto.TENSOR
            field = many.map_values if is_of_maps else many.tensor_values
            field.extend(write_value(kind.of, element, "") for element in value)
            return many
        case MapType(), MapValue():
            keyed = MapProto(name=name, key_type=kind.key.code)
            keyed.values.CopyFrom(write_value(SequenceType(kind.of), tuple(_scalars(value.values)), ""))
            (keyed.string_keys if kind.key.kind == "string" else keyed.keys).extend(value.keys.array.tolist())
            return keyed
        case OptionalType(), _:
            perhaps = OptionalProto(name=name)
            if value is not None:
                held = write_value(kind.of, value, "")
                field, code = _HELD[type(held).__name__]
                perhaps.elem_type = code
                getattr(perhaps, field).CopyFrom(held)
            return perhaps
    raise UserError("a value of another type than is said", got=type(value).__name__, expected=str(kind))


_HELD = {
    "TensorProto": ("tensor_value", OptionalProto.TENSOR),
    "SequenceProto": ("sequence_value", OptionalProto.SEQUENCE),
    "MapProto": ("map_value", OptionalProto.MAP),
}
"""The field of an OptionalProto for each message, and what its `elem_type` is then."""


def _scalars(values: Tensor) -> Iterator[Tensor]:
    for place in range(values.array.size):
        yield Tensor(values.element_type, values.array[place : place + 1].reshape(()))


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


def _to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _to_raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _write_unnamed(tensor: Tensor) -> TensorProto:
    return write_tensor(tensor, "")


def _same(value: Any) -> Any:
    return value


_Convert = Callable[[Any], Any]
_FIELDS: Mapping[AttributeKind, tuple[int, str, _Convert, _Convert]] = {
    "int": (AttributeProto.INT, "i", _same, _same),
    "float": (AttributeProto.FLOAT, "f", _same, _same),
    "string": (AttributeProto.STRING, "s", _to_raw, _to_text),
    "tensor": (AttributeProto.TENSOR, "t", _write_unnamed, read_tensor),
    "graph": (AttributeProto.GRAPH, "g", write_graph, read_graph),
    "type": (AttributeProto.TYPE_PROTO, "tp", write_type, read_type),
    "ints": (AttributeProto.INTS, "ints", _same, _same),
    "floats": (AttributeProto.FLOATS, "floats", _same, _same),
    "strings": (AttributeProto.STRINGS, "strings", _to_raw, _to_text),
    "tensors": (AttributeProto.TENSORS, "tensors", _write_unnamed, read_tensor),
    "graphs": (AttributeProto.GRAPHS, "graphs", write_graph, read_graph),
    "types": (AttributeProto.TYPE_PROTOS, "type_protos", write_type, read_type),
}
"""Of each kind its number, the field of the message that holds it, and how an element is written and read."""
_KINDS = {code: kind for kind, (code, *_) in _FIELDS.items()}


def write_attribute(name: str, attribute: Attribute) -> AttributeProto:
    """An AttributeProto of an attribute; its type is set even where a list is empty."""
    proto = AttributeProto()
    fill_attribute(proto, name, attribute)
    return proto


def fill_attribute(proto: AttributeProto, name: str, attribute: Attribute) -> None:
    """The same in a message that is there and empty."""
    proto.name = name
    code, field, write, _ = _FIELDS[attribute.kind]
    proto.type = code  # type: ignore[assignment] # int enum
    if attribute.kind.endswith("s"):
        getattr(proto, field).extend(map(write, cast("Iterable[Any]", attribute.value)))
    elif attribute.kind in ("tensor", "graph", "type"):
        getattr(proto, field).CopyFrom(write(attribute.value))
    else:
        setattr(proto, field, write(attribute.value))


def read_attribute(proto: AttributeProto) -> Attribute:
    """The inverse of `write_attribute`; raises UserError for what no case carries, with the reason."""
    kind = _KINDS.get(proto.type)
    if proto.type in (AttributeProto.SPARSE_TENSOR, AttributeProto.SPARSE_TENSORS):
        raise UserError("an attribute of a kind that no case carries", got=proto.name, expected=SPARSE)
    if proto.ref_attr_name:
        raise UserError("an attribute that refers to one of a function", got=proto.name)
    if kind is None:
        raise UserError("attribute of an unknown kind", got=f"{proto.name}: {proto.type}")
    _, field, _, read = _FIELDS[kind]
    held = getattr(proto, field)
    return Attribute(kind, tuple(map(read, held)) if kind.endswith("s") else read(held))
