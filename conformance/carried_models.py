"""ONNX models that a case carries: somebody else's files, of which nothing may lie outside the case."""

from __future__ import annotations

from google.protobuf.message import Message  # type: ignore[import-untyped] # protobuf ships no types
from onnx import ModelProto, TensorProto

from conformance.proto_bounds import check_bounds


def keeps_data_elsewhere(model: ModelProto) -> bool:
    """Whether any tensor of a model, however deep, has its data in another file."""
    return any(map(_is_elsewhere, _tensors(model)))


def check_carried(raw: bytes) -> bytes:
    """A serialized model as it is; ValueError where it keeps data elsewhere or has too
    much structure, DecodeError where it is none."""
    check_bounds(raw, ModelProto)
    if keeps_data_elsewhere(ModelProto.FromString(raw)):
        raise ValueError("its model keeps data in another file")
    return raw


def _is_elsewhere(tensor: TensorProto) -> bool:
    return bool(tensor.data_location == TensorProto.EXTERNAL or tensor.external_data)


def _tensors(message: Message) -> list[TensorProto]:
    found = [message] if isinstance(message, TensorProto) else []
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in (value,) if isinstance(value, Message) else value:
                found += _tensors(each)
    return found
