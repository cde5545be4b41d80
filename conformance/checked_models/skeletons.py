"""A model file without its weights: read from the file piece by piece, so that large tensors cost nothing."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from onnx import ModelProto

from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import open_regular

MOST_TENSOR_BYTES = 1 << 16
"""A tensor whose message has more bytes keeps its type and shape alone."""
MOST_STRUCTURE = 48 << 20
"""Bytes that a model may have beside the data of its tensors; in memory they are many times as many."""
MOST_SMALL_DATA = 256 << 20
"""Bytes of the data of small tensors."""
MOST_FIELDS = 3_000_000
_LOOKED_INTO = 1 << 12
_DEEPEST = 100
_WINDOW = 1 << 20
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED32: 4, _FIXED64: 8}
_DATA = frozenset(
    ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
)
_LISTS = frozenset(("floats", "ints", "strings"))
_PROSE = frozenset(("doc_string", "metadata_props"))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A serialized ModelProto without the data of large tensors and without training; the file's digest."""

    raw: bytes
    sha256: str
    has_training: bool


def read_skeleton(path: Path) -> Skeleton:
    """Raises UserError where the file cannot be read, is no protobuf message, or has too much structure."""
    try:
        with open_regular(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = os.fstat(file.fileno()).st_size
            try:
                walk = _walk(file, size)
            except ValueError as error:
                raise _no_model(path, file, str(error)) from error
            except _TooMuch as error:
                raise UserError(
                    "the model is more than is read", got=str(error), where=Place(str(path))
                ) from error
    except OSError as error:
        raise unreadable("the model", path, error) from error
    return Skeleton(walk.raw, digest, walk.has_training)


def _walk(file: io.BufferedReader, size: int) -> _Walk:
    """Where there is too much of it, prose is left out as well: that takes a look at every message."""
    try:
        return _Walk(file, size, _LOOKED_INTO)
    except _TooManyFields:
        raise
    except _TooMuch:
        return _Walk(file, size, 0)


def _no_model(path: Path, file: io.BufferedReader, problem: str) -> UserError:
    file.seek(0)
    head = file.read(16)
    what = next((name for magic, at, name in _OTHERS if head[at : at + len(magic)] == magic), None)
    return UserError(
        "this is no ONNX model",
        got=f"{what}" if what else problem,
        expected="a serialized ModelProto",
        where=Place(str(path)),
        remedy="Give the .onnx file that it was made from." if what and "ORT" in what else None,
    )


_OTHERS = (
    (b"ORTM", 4, "a model in the ORT format"),
    (b"TFL3", 4, "a TensorFlow Lite model"),
    (b"PK\x03\x04", 0, "a zip file, such as PyTorch writes"),
    (b"\x89HDF", 0, "an HDF5 file"),
    (b"\x1f\x8b", 0, "a gzip file"),
    (b"version https://", 0, "a pointer of Git LFS, not the file itself"),
    (b"<", 0, "a text"),
    (b"{", 0, "a text"),
)


class _TooMuch(Exception):
    """The model may be one, and is more than is read."""


class _TooManyFields(_TooMuch):
    pass


class _Walk:
    """Copies a message, and leaves out what is too large; ValueError where the bytes are none."""

    def __init__(self, file: io.BufferedReader, size: int, looked_into: int) -> None:
        self._file = file
        self._looked_into = looked_into
        self._start, self._window = 0, b""
        self._structure = self._data = self._seen = 0
        self.has_training = False
        self.raw = b"".join(self._message(0, size, ModelProto.DESCRIPTOR, 0))

    def _message(self, at: int, end: int, descriptor: Any, depth: int) -> list[bytes]:
        if depth > _DEEPEST:
            raise ValueError(f"messages within each other more than {_DEEPEST} deep")
        fields = _fields(descriptor)
        is_tensor = descriptor.name == "TensorProto"
        drops_data = is_tensor and end - at > MOST_TENSOR_BYTES
        found: list[bytes] = []
        while at < end:
            begin = at
            tag, at = self._varint(at, end)
            self._seen += 1
            if self._seen > MOST_FIELDS:
                raise _TooManyFields(f"more than {MOST_FIELDS:,} fields")
            wire, field = tag & 7, fields.get(tag >> 3)
            name = "" if field is None else field.name
            length = _WIDTHS.get(wire, 0)
            if wire == _VARINT:
                at = self._varint(at, end)[1]
            elif wire == _DELIMITED:
                length, at = self._varint(at, end)
            elif wire not in _WIDTHS:
                raise ValueError("a field of no kind that protobuf has")
            content, at = at, at + length
            if at > end:
                raise ValueError("a message that ends early: the file is cut off, or no protobuf at all")
            if name == "training_info":
                self.has_training = True
                continue
            if field is None or (drops_data and name in _DATA) or (not self._looked_into and name in _PROSE):
                continue
            if wire == _DELIMITED and field.message_type is not None and length > self._looked_into:
                inner = self._message(content, at, field.message_type, depth + 1)
                head = _varint_of(tag) + _varint_of(sum(map(len, inner)))
                self._count(len(head), is_data=False)
                found += (head, *inner)
                continue
            if name in _LISTS and descriptor.name == "AttributeProto":
                at = end  # trees have millions of numbers in them, each of which would be a field
            self._count(at - begin, is_data=is_tensor and name in _DATA)
            found.append(self._read(begin, at))
        return found

    def _count(self, number: int, *, is_data: bool) -> None:
        if is_data:
            self._data += number
        else:
            self._structure += number
        if self._structure > MOST_STRUCTURE:
            raise _TooMuch(f"more than {MOST_STRUCTURE:,} bytes beside the data of its tensors")
        if self._data > MOST_SMALL_DATA:
            raise _TooMuch(f"more than {MOST_SMALL_DATA:,} bytes of small tensors")

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        offset = at - self._start
        if not 0 <= offset <= len(self._window) - 10:
            self._load(at)
            offset = 0
        number = shift = 0
        for byte in self._window[offset : offset + min(10, end - at)]:
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number, at + shift // 7
        raise ValueError("a number that does not end: the file is cut off, or no protobuf at all")

    def _read(self, begin: int, end: int) -> bytes:
        if end - begin > _WINDOW:
            self._file.seek(begin)
            return self._file.read(end - begin)
        if begin < self._start or end > self._start + len(self._window):
            self._load(begin)
        return self._window[begin - self._start : end - self._start]

    def _load(self, at: int) -> None:
        self._file.seek(at)
        self._start, self._window = at, self._file.read(_WINDOW)


def _varint_of(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


@cache
def _fields(descriptor: Any) -> dict[int, Any]:
    return {each.number: each for each in descriptor.fields}
