"""Tensors: an element type and an array in its storage type, to and from bytes."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType, element_type_of
from opcert.vocabulary.errors import UserError

_STORED = {name: np.dtype(element_type.storage) for name, element_type in ELEMENT_TYPES.items()}
_LITTLE = {name: dtype.newbyteorder("<") for name, dtype in _STORED.items()}


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor: its element type, and an array in that type's storage (see `ElementType.storage`).

    The array is read-only and C-contiguous. Two tensors are equal where type, shape and every bit are.
    """

    element_type: ElementType
    array: NDArray[Any]

    def __post_init__(self) -> None:
        array = np.asarray(self.array)
        if array.dtype != _STORED[self.element_type.name]:
            raise TypeError(
                f"{self.element_type} is stored as {self.element_type.storage}, not {array.dtype}"
            )
        if not array.flags.c_contiguous or not _is_of_bytes(array):
            array = array.copy()
        array.setflags(write=False)
        object.__setattr__(self, "array", array)

    def __reduce__(self) -> tuple[type[Tensor], tuple[ElementType, NDArray[Any]]]:
        # Its hash is another one in the next process, and arrays that travelled can be written to.
        return Tensor, (self.element_type, self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        same = self.element_type is other.element_type and self.shape == other.shape
        return same and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # A call is evaluated under many readings, and what is kept of it is found by its tensors.
        return hash((self.element_type, self.shape, self.to_bytes()))

    def __repr__(self) -> str:
        return f"Tensor({self.element_type}, {list(self.shape)}, {self.array.tolist()!r})"

    def to_bytes(self) -> bytes:
        """Raw little-endian elements in row-major order.

        Booleans take one byte, and so do elements of 4 and 2 bits, integers of them sign-extended; a string
        is its length in bytes (32 bits) and its bytes.
        """
        if self.element_type.kind == "string":
            return b"".join(struct.pack("<I", len(each)) + each for each in self.array.reshape(-1).tolist())
        return self.array.astype(_LITTLE[self.element_type.name], copy=False).tobytes()

    @classmethod
    def from_bytes(cls, element_type: ElementType, shape: tuple[int, ...], raw: bytes) -> Tensor:
        """The inverse of `to_bytes`; raises UserError where the bytes do not fill the shape exactly."""
        count = math.prod(shape)
        if element_type.kind == "string":
            return cls(element_type, _strings(raw, count).reshape(shape))
        dtype = _LITTLE[element_type.name]
        if len(raw) != count * dtype.itemsize:
            raise UserError(
                f"tensor data of the wrong length for {element_type} {list(shape)}",
                got=f"{len(raw)} bytes",
                expected=f"{count * dtype.itemsize}",
            )
        found = np.frombuffer(raw, dtype).reshape(shape)
        if type(raw) is not bytes or dtype != _STORED[element_type.name]:
            return cls(element_type, found.astype(_STORED[element_type.name], copy=False))
        # All that is looked at of an array of another origin holds of one that lies in bytes.
        made = object.__new__(cls)
        made.__dict__.update(element_type=element_type, array=found)
        return made


def _is_of_bytes(array: NDArray[Any]) -> bool:
    """Whether an array lies in a `bytes` object, so that nobody can change it."""
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, bytes)


def tensor(values: ArrayLike, element_type: ElementType | str | None = None) -> Tensor:
    """A tensor of plain values; the type defaults to the one that numpy gives the values.

    Values go into storage as they are: for types that are stored as bits (bfloat16, float8, float4) give
    the bits.
    """
    if isinstance(element_type, str):
        element_type = ELEMENT_TYPES[element_type]
    if element_type is None:
        element_type = element_type_of(np.asarray(values).dtype)
    if element_type.kind == "string":
        return Tensor(element_type, _encode_strings(np.asarray(values, dtype=np.object_)))
    return Tensor(element_type, np.asarray(values, dtype=element_type.storage))


def _encode_strings(array: NDArray[Any]) -> NDArray[Any]:
    encoded = np.empty(array.shape, dtype=np.object_)
    flat = encoded.reshape(-1)
    for position, each in enumerate(array.reshape(-1).tolist()):
        flat[position] = each if isinstance(each, bytes) else str(each).encode("utf-8", "surrogateescape")
    return flat.reshape(array.shape)


def _strings(raw: bytes, count: int) -> NDArray[Any]:
    if 4 * count > len(raw):
        raise UserError("string tensor data ends early", got=f"{len(raw)} bytes", expected=f"{count} strings")
    found = np.empty(count, dtype=np.object_)
    offset = 0
    for position in range(count):
        if offset + 4 > len(raw):
            raise UserError("string tensor data ends early", got=f"{position} strings", expected=str(count))
        (length,) = struct.unpack_from("<I", raw, offset)
        offset += 4
        if offset + length > len(raw):
            raise UserError("string tensor data ends inside a string", got=f"{len(raw)} bytes")
        found[position] = raw[offset : offset + length]
        offset += length
    if offset != len(raw):
        raise UserError(
            "string tensor data goes on after the last string", got=f"{len(raw) - offset} bytes more"
        )
    return found
