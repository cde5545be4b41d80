"""Types of values as ONNX's TypeProto messages, and back."""

from __future__ import annotations

from onnx import TypeProto

from opcert.vocabulary.element_types import BY_CODE, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.value_types import Extent, MapType, OptionalType, SequenceType, TensorType, ValueType

_MOST_DEPTH = 8
_MOST_DIMENSIONS = 64


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
        kind = each.WhichOneof("value")
        extents.append(each.dim_value if kind == "dim_value" else each.dim_param if kind else None)
    # What a name of an extent may be is the text's to say.
    if any(
        (isinstance(each, str) and not each.isidentifier()) or (isinstance(each, int) and each < 0)
        for each in extents
    ):
        raise UserError("a type with an extent that is none", got=str(extents)[:100])
    return TensorType(element_type, tuple(extents))


def _element_type(code: int) -> ElementType:
    found = BY_CODE.get(code)
    if found is None:
        raise UserError("a type of an element type that is not known", got=str(code))
    return found
