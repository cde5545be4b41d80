"""The values of a data set, read without trust: as a graph declares them, and any tool writes them."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped] # protobuf ships no types
from numpy.typing import NDArray
from onnx import ModelProto, OptionalProto, SequenceProto, TensorProto, TypeProto, ValueInfoProto

from conformance.adopting.layout import list_values, read_file
from conformance.models.packing_nodes import Value
from conformance.suite.protos import read_tensor, write_tensor
from opcert.vocabulary.element_types import BY_CODE, ElementType, element_type_of
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType, ValueType

_MOST_AXES = 32


def parse_tensor(raw: bytes) -> Tensor:
    """The tensor in a serialized TensorProto; raises UserError where there is none."""
    proto = TensorProto()
    try:
        proto.ParseFromString(raw)
    except DecodeError as error:
        raise UserError("not a TensorProto", got=str(error)) from error
    return read_foreign_tensor(proto)


@contextmanager
def _of_arrays() -> Iterator[None]:
    """Whatever else reading a file of arrays ends in is an error of the user's."""
    try:
        yield
    except (ValueError, EOFError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError("a file that holds no arrays", got=one_line(str(error))) from error


def parse_array(raw: bytes) -> Tensor:
    """The tensor of an .npy file; raises UserError where there is none, and runs nothing of the file."""
    with _of_arrays():
        found = np.load(io.BytesIO(raw), allow_pickle=False)  # exact: it is read
        if not isinstance(found, np.ndarray):
            raise ValueError("an archive where an array is expected")
        return _tensor_of(found)


def parse_arrays(raw: bytes, most: int) -> dict[str, Tensor]:
    """The tensors of an .npz file by name; raises UserError for none, and for more than `most` bytes."""
    with _of_arrays():
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > most:
                raise UserError("arrays of too many bytes", expected=f"at most {most:,}")
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:  # exact: it is read
            return {name: _tensor_of(arrays[name]) for name in arrays.files}


def _tensor_of(array: NDArray[Any]) -> Tensor:
    element_type = element_type_of(array.dtype)
    if element_type.kind == "string":
        return tensor(array.astype(np.object_), element_type)
    return Tensor(element_type, array.astype(element_type.storage))


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


@dataclass(frozen=True)
class DeclaredValue:
    """A graph's input or output: a tensor, a sequence of tensors, or an optional that may hold one of them.

    `element_type` is of the tensor, or of every tensor in the sequence.
    """

    name: str
    element_type: ElementType
    is_sequence: bool = False
    is_optional: bool = False

    @property
    def type(self) -> ValueType:
        """The type, without a shape."""
        held: ValueType = TensorType(self.element_type)
        if self.is_sequence:
            held = SequenceType(held)
        return OptionalType(held) if self.is_optional else held

    @property
    def is_tensor(self) -> bool:
        return not (self.is_sequence or self.is_optional)


def declared_inputs(model: ModelProto) -> tuple[DeclaredValue, ...]:
    """The graph's inputs, in order.

    Raises UserError where one is declared as anything else (a map, a sequence of sequences, a sparse tensor),
    or of an element type that opcert lacks.
    """
    return tuple(_read_declarations("input", model.graph.input))


def declared_outputs(model: ModelProto) -> tuple[DeclaredValue, ...]:
    """The graph's outputs, in order; raises UserError as `declared_inputs` does."""
    return tuple(_read_declarations("output", model.graph.output))


def _read_declarations(side: str, declared: Iterable[ValueInfoProto]) -> Iterable[DeclaredValue]:
    for value_info in declared:
        held, layers = value_info.type, []
        # An optional may hold a sequence, and that tensors: nothing else of depth is carried.
        for kind in ("optional_type", "sequence_type"):
            if held.WhichOneof("value") == kind:
                held = getattr(held, kind).elem_type
                layers.append(kind)
        if held.WhichOneof("value") != "tensor_type":
            raise UserError(
                f"an {side} is declared as {_name_type(value_info.type)}, "
                "and tensors, sequences of tensors and optionals of these are what is carried"
            )
        yield DeclaredValue(
            value_info.name,
            element_type_of_code(held.tensor_type.elem_type),
            is_sequence="sequence_type" in layers,
            is_optional="optional_type" in layers,
        )


def _name_type(declared: TypeProto) -> str:
    """A type in words, no deeper than is needed to tell it from what is carried."""
    words = []
    for _ in range(3):
        kind = declared.WhichOneof("value")
        words.append((kind or "nothing").removesuffix("_type").replace("_", " "))
        if kind not in ("optional_type", "sequence_type"):
            break
        declared = getattr(declared, kind).elem_type
    return " of ".join(words)


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
    constant = {initializer.name for initializer in model.graph.initializer}
    # An input with an initializer may be left to it, or be given all the same.
    left_open = tuple(declared_value for declared_value in taken if declared_value.name not in constant)
    if len(inputs) not in (len(left_open), len(taken)):
        raise UserError(
            "not as many inputs as the model takes", got=str(len(inputs)), expected=str(len(left_open))
        )
    if len(outputs) not in (0, len(given_back)):
        raise UserError(
            "not as many outputs as the model has", got=str(len(outputs)), expected=str(len(given_back))
        )
    if any(declared_value.name in constant and not declared_value.is_tensor for declared_value in taken):
        raise UserError("an input that is no tensor has a tensor as its value in the model")
    given = left_open if len(inputs) == len(left_open) else taken
    return DataSet(_read_values(given, inputs), _read_values(given_back if outputs else (), outputs))


def _read_values(
    declared: Sequence[DeclaredValue], paths: Sequence[Path]
) -> tuple[tuple[DeclaredValue, Value], ...]:
    found = tuple(
        (declared_value, _read_value(declared_value, path))
        for declared_value, path in zip(declared, paths, strict=True)
    )
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
    held = [field for field in _fields(proto) if field.endswith("_value")]
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
    held = [field for field in _fields(proto) if field.endswith("_values")]
    allowed = (SequenceProto.TENSOR,) if held else (SequenceProto.TENSOR, SequenceProto.UNDEFINED)
    if proto.elem_type not in allowed or held not in ([], ["tensor_values"]):
        raise UserError(
            "a sequence of something else than tensors",
            got=f"elem_type {proto.elem_type}, {', '.join(held) or 'no values'}",
            expected=f"elem_type {SequenceProto.TENSOR}, tensor_values",
        )
    _check_length(len(proto.tensor_values), "a sequence")
    return tuple(
        _checked(declared, read_foreign_tensor(tensor_value)) for tensor_value in proto.tensor_values
    )


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
