"""The values of a data set, read without trust: TensorProto, SequenceProto and OptionalProto messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped] # protobuf ships no types
from onnx import ModelProto, OptionalProto, SequenceProto

from conformance.adopting.declared_values import DeclaredValue, declared_inputs, declared_outputs
from conformance.adopting.foreign_tensors import parse_tensor, read_foreign_tensor
from conformance.adopting.layout import list_values, read_file
from conformance.models.packing_nodes import Value
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

MOST_ELEMENTS = 1_000
"""The elements of all sequences that a test gives, or expects: each becomes an input or output of a model."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """What a test gives to a graph and what it expects of it, in the graph's order.

    `outputs` is empty where the test expects nothing.
    """

    inputs: tuple[tuple[DeclaredValue, Value], ...]
    outputs: tuple[tuple[DeclaredValue, Value], ...]


def read_data_set(data_set: Path, model: ModelProto) -> DataSet:
    """The inputs and outputs of a data set; raises UserError where they are not those of the model."""
    inputs, outputs = list_values(data_set)
    taken, given_back = declared_inputs(model), declared_outputs(model)
    constant = {each.name for each in model.graph.initializer}
    # An input with an initializer may be left to it, or be given all the same.
    left_open = tuple(each for each in taken if each.name not in constant)
    if len(inputs) not in (len(left_open), len(taken)):
        raise UserError(
            "not as many inputs as the model takes", got=str(len(inputs)), expected=str(len(left_open))
        )
    if len(outputs) not in (0, len(given_back)):
        raise UserError(
            "not as many outputs as the model has", got=str(len(outputs)), expected=str(len(given_back))
        )
    if any(each.name in constant and not each.is_tensor for each in taken):
        raise UserError("an input that is no tensor has a tensor as its value in the model")
    given = left_open if len(inputs) == len(left_open) else taken
    return DataSet(_read_values(given, inputs), _read_values(given_back if outputs else (), outputs))


def _read_values(
    declared: Sequence[DeclaredValue], paths: Sequence[Path]
) -> tuple[tuple[DeclaredValue, Value], ...]:
    found = tuple((each, _read_value(each, path)) for each, path in zip(declared, paths, strict=True))
    _check_length(sum(len(value) for _, value in found if isinstance(value, tuple)), "sequences")
    return found


def _read_value(declared: DeclaredValue, path: Path) -> Value:
    raw = read_file(path)
    try:
        return parse_value(declared, raw)
    except UserError as error:
        raise UserError(f"{path.parent.name}/{path.name}: {error}") from error


def parse_value(declared: DeclaredValue, raw: bytes) -> Value:
    """The value in a serialized message of the declared kind; raises UserError where there is none."""
    if declared.is_optional:
        return _read_optional(declared, _parse(OptionalProto(), raw))
    if declared.is_sequence:
        return _read_sequence(declared, _parse(SequenceProto(), raw))
    return parse_tensor(raw)


def _parse(proto: Message, raw: bytes) -> Message:
    name = type(proto).__name__
    try:
        proto.ParseFromString(raw)
    except DecodeError as error:
        raise UserError(f"no {name}", got=str(error)) from error
    # Another message may parse as one of these with everything in it unknown, so that it looks empty.
    known = proto.ByteSize()
    proto.DiscardUnknownFields()
    if proto.ByteSize() != known:
        raise UserError(f"no {name}", got="a message with other fields")
    return proto


def _read_optional(declared: DeclaredValue, proto: OptionalProto) -> Value:
    wanted = "sequence_value" if declared.is_sequence else "tensor_value"
    code = OptionalProto.SEQUENCE if declared.is_sequence else OptionalProto.TENSOR
    held = [each for each in _fields(proto) if each.endswith("_value")]
    if proto.elem_type == OptionalProto.UNDEFINED and not held:
        return None
    if (proto.elem_type, held) != (code, [wanted]):
        raise UserError(
            "an optional that does not hold what is declared",
            got=f"elem_type {proto.elem_type}, {', '.join(held) or 'no value'}",
            expected=f"elem_type {code}, {wanted}; or elem_type 0 and no value",
        )
    if declared.is_sequence:
        return _read_sequence(declared, proto.sequence_value)
    return _checked(declared, read_foreign_tensor(proto.tensor_value))


def _read_sequence(declared: DeclaredValue, proto: SequenceProto) -> tuple[Tensor, ...]:
    held = [each for each in _fields(proto) if each.endswith("_values")]
    allowed = (SequenceProto.TENSOR,) if held else (SequenceProto.TENSOR, SequenceProto.UNDEFINED)
    if proto.elem_type not in allowed or held not in ([], ["tensor_values"]):
        raise UserError(
            "a sequence of something else than tensors",
            got=f"elem_type {proto.elem_type}, {', '.join(held) or 'no values'}",
            expected=f"elem_type {SequenceProto.TENSOR}, tensor_values",
        )
    _check_length(len(proto.tensor_values), "a sequence")
    return tuple(_checked(declared, read_foreign_tensor(each)) for each in proto.tensor_values)


def _check_length(length: int, what: str) -> None:
    if length > MOST_ELEMENTS:
        raise UserError(f"{what} of too many elements", got=str(length), expected=f"at most {MOST_ELEMENTS}")


def _fields(proto: Message) -> list[str]:
    """The names of the fields that are set."""
    return [str(field.name) for field, _ in proto.ListFields()]


def _checked(declared: DeclaredValue, tensor: Tensor) -> Tensor:
    if tensor.element_type != declared.element_type:
        raise UserError(
            "a tensor of another element type than is declared",
            got=tensor.element_type.name,
            expected=declared.element_type.name,
        )
    return tensor
