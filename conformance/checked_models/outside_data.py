"""The tensors of a model, and small ones whose data lie in files beside it: never outside its folder."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from conformance.checked_models.inlining import graphs_of
from opcert.vocabulary.element_types import BY_CODE
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.regular_files import open_regular


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
    for attribute in node.attribute:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for _, inner in graphs_of(attribute):
            yield from tensors_in(inner)


MOST_ELEMENTS = 4096
"""A tensor of more elements keeps its type and shape alone."""
_MOST_BYTES = 128 << 20
_LARGEST_FILE = (1 << 63) - 1
_MOST_DIGITS = 20
_DATA = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


class LostData(UserError):
    """Data of a tensor that its file does not hold, or no longer: nobody can load the model with them."""


@dataclass(frozen=True)
class Piece:
    """Where the data of a tensor lie: a file inside the model's folder, and the bytes of it."""

    path: Path
    offset: int
    length: int


def element_count(proto: TensorProto) -> int | None:
    """How many elements a tensor says that it has; None where its shape is none."""
    if any(dim < 0 for dim in proto.dims):
        return None
    return int(math.prod(proto.dims))


def has_data(proto: TensorProto) -> bool:
    """Whether its data are in the message: those of a tensor without elements always are."""
    if proto.data_location == TensorProto.EXTERNAL:
        return False
    return element_count(proto) == 0 or any(
        proto.HasField("raw_data") if name == "raw_data" else len(getattr(proto, name)) for name in _DATA
    )


def byte_length(proto: TensorProto) -> int:
    """How many bytes the data of a tensor of numbers take; UserError where that cannot be said."""
    element_type = BY_CODE.get(proto.data_type)
    count = element_count(proto)
    if element_type is None or not element_type.bits or count is None:
        raise UserError("a tensor whose data no file can hold", got=f"element type {proto.data_type}")
    return -(-count * element_type.bits // 8)


def locate(proto: TensorProto, folder: Path) -> Piece:
    """Where the data of a tensor lie; raises LostData where no such file is there, or its path leads up or
    is absolute, which ONNX rules out; UserError where a link leads outside `folder`, or no file is said.
    """
    said = {str(each.key): str(each.value) for each in proto.external_data}
    location = str(said.get("location", ""))
    if not location or "\0" in location:
        raise UserError("a tensor that does not say in which file its data are")
    if Path(location).is_absolute() or ".." in Path(location).parts:
        raise LostData(f"{one_line(location, 80)} is outside the model's folder, where no data may be")
    try:
        inside = folder.resolve(strict=True)
        path = (inside / location).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "links in a circle"
        raise LostData(f"{one_line(location, 80)} cannot be found", got=reason) from error
    if not path.is_relative_to(inside):
        raise UserError(f"{one_line(location, 80)} is outside the model's folder")
    offset = _number(said, "offset") or 0
    length = _number(said, "length")
    wanted = byte_length(proto)
    if length not in (None, wanted):
        raise UserError(
            f"a tensor whose bytes in {one_line(location, 80)} do not fit its shape",
            got=f"{length} from {offset} on",
            expected=str(wanted),
        )
    return Piece(path, offset, wanted)


def _number(said: Mapping[str, str], name: str) -> int | None:
    """A number of bytes that a tensor says; None where it says none, UserError where no file has so many."""
    text = said.get(name)
    if not text:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not is_number or int(text) > _LARGEST_FILE:
        raise UserError(
            f"a tensor whose data have an impossible {name} in their file",
            got=one_line(text, 60),
            expected="a number of bytes from 0 to 2^63 - 1",
        )
    return int(text)


def read_piece(piece: Piece) -> bytes:
    """The bytes; raises LostData where the file has fewer, UserError where it cannot be read."""
    try:
        with open_regular(piece.path) as file:
            file.seek(piece.offset)
            raw = file.read(piece.length)
    except (OSError, ValueError, OverflowError) as error:
        raise UserError(f"{one_line(piece.path.name, 80)} cannot be read", got=str(error)[:200]) from error
    if len(raw) != piece.length:
        raise LostData(
            f"{one_line(piece.path.name, 80)} ends before the data of a tensor do",
            got=f"{len(raw)} bytes from {piece.offset} on",
            expected=str(piece.length),
        )
    return raw


@dataclass(eq=False)
class _Reading:
    folder: Path
    left: int = _MOST_BYTES
    large: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def take(self, proto: TensorProto) -> None:
        try:
            piece = locate(proto, self.folder)
            count = element_count(proto)
            if count is None or count > MOST_ELEMENTS or piece.length > self.left:
                self.large += 1
                return
            raw = read_piece(piece)
        except UserError as error:
            self.reasons[str(error)] += 1
            return
        self.left -= len(raw)
        del proto.external_data[:]
        proto.data_location = TensorProto.DEFAULT
        proto.raw_data = raw


def read_small_data(model: ModelProto, folder: Path) -> list[str]:
    """Put the data of small tensors into the model, in place; what could not be read, in sentences."""
    reading = _Reading(folder)
    for tensor in tensors_of(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            reading.take(tensor)
    told = list(reading.reasons.items())
    notes = [
        f"the data of {count} tensor{'s' if count != 1 else ''} are not read: {why}"
        for why, count in told[:3]
    ]
    if len(told) > 3:
        notes.append(f"the data of {sum(count for _, count in told[3:])} more tensors are not read either")
    return notes
