"""TensorProto messages as any tool writes them: raw bytes, or a field of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from numpy.typing import NDArray
from onnx import TensorProto

from conformance.suite.protos import read_tensor, write_tensor
from opcert.vocabulary.element_types import BY_CODE, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

_MOST_AXES = 32


def parse_tensor(raw: bytes) -> Tensor:
    """The tensor in a serialized TensorProto; raises UserError where there is none."""
    proto = TensorProto()
    try:
        proto.ParseFromString(raw)
    except DecodeError as error:
        raise UserError("not a TensorProto", got=str(error)) from error
    return read_foreign_tensor(proto)


def read_foreign_tensor(proto: TensorProto) -> Tensor:
    """The tensor of a TensorProto, bit for bit, of every element type that opcert has.

    Raises UserError where type, shape and data do not fit each other, or the data are in another file.
    """
    element_type = element_type_of_code(proto.data_type)
    if proto.data_location == TensorProto.EXTERNAL or proto.external_data:
        raise UserError("a tensor whose data are in another file")
    if proto.HasField("segment"):
        raise UserError("a tensor in segments")
    if len(proto.dims) > _MOST_AXES or any(extent < 0 for extent in proto.dims):
        raise UserError("a tensor of no possible shape", got=str(list(proto.dims))[:100])
    plain = TensorProto(data_type=proto.data_type, dims=proto.dims)
    if element_type.kind == "string":
        plain.string_data.extend(proto.string_data)
    else:
        raw = proto.raw_data if proto.HasField("raw_data") else _raw_of_numbers(proto, element_type)
        if element_type.kind == "bool":
            raw = (np.frombuffer(raw, np.uint8) != 0).tobytes()
        plain.raw_data = raw
    try:
        return read_tensor(plain)
    except (ValueError, OverflowError, MemoryError) as error:
        raise UserError("a tensor of no possible shape", got=str(list(proto.dims))[:100]) from error


def element_type_of_code(code: int) -> ElementType:
    """The element type of ONNX's number; raises UserError where opcert has none."""
    found = BY_CODE.get(code)
    if found is None:
        known = code in TensorProto.DataType.values() and code != TensorProto.UNDEFINED
        name = TensorProto.DataType.Name(code) if known else str(code)
        raise UserError(f"element type {name} is not one that opcert has")
    return found


def _raw_of_numbers(proto: TensorProto, element_type: ElementType) -> bytes:
    """The bytes that `raw_data` would hold: which field has them is by the type (ONNX's TensorProto)."""
    match element_type.name:
        case "float" | "complex64":
            return _little(np.array(proto.float_data, np.float32))
        case "double" | "complex128":
            return _little(np.array(proto.double_data, np.float64))
        case "int64":
            return _little(np.array(proto.int64_data, np.int64))
        case "uint32" | "uint64":
            values = np.array(proto.uint64_data, np.uint64)
            return _little(values.astype(np.uint32) if element_type.name == "uint32" else values)
    if element_type.bits == 6:
        # Each entry is an element in its lowest bits: only raw data holds four of them in three bytes.
        each = np.array(proto.int32_data, np.int32).astype(np.uint8)
        return write_tensor(Tensor(element_type, each), "").raw_data
    width = max(element_type.bits, 8) // 8
    return _little(np.array(proto.int32_data, np.int32).astype(f"u{width}"))


def _little(array: NDArray[Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
