"""Tensors of the worker protocol to and from numpy arrays, for workers in Python.

Types that numpy lacks (bfloat16, float8, 4 and 2 bits) come from ml_dtypes where the runtime's environment
has it; without it they are Unsupported.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple, Union

import numpy as np

if TYPE_CHECKING or __package__:
    from conformance.workers.worker_protocol import (
        NotTensor,
        Unsupported,
        WireMap,
        WireOptional,
        WireTensor,
        WorkerFault,
    )
else:
    from worker_protocol import NotTensor, Unsupported, WireMap, WireOptional, WireTensor, WorkerFault

_OF_NUMPY = (
    *("float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bool", "complex64", "complex128"),
)
NATIVE: Dict[str, str] = {"float": "float32", "double": "float64", **{name: name for name in _OF_NUMPY}}
REAL: List[str] = [name for name in NATIVE if not name.startswith("complex")]
"""The element types of numpy without the complex ones."""

EXTENDED: Dict[str, str] = {
    "bfloat16": "bfloat16",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
    "int4": "int4",
    "uint4": "uint4",
    "int2": "int2",
    "uint2": "uint2",
}
"""Element types that numpy lacks, and their names in ml_dtypes."""

STORAGE: Dict[str, str] = {
    **dict.fromkeys(EXTENDED, "uint8"),
    "bfloat16": "uint16",
    "int4": "int8",
    "int2": "int8",
}
"""The plain numpy type that holds the bits (or, for small integers, the value) of an extended element."""

_SMALL_INTEGERS = ("int4", "uint4", "int2", "uint2")

PACKED: Dict[str, int] = {
    **dict.fromkeys(("int4", "uint4", "float4e2m1"), 4),
    **dict.fromkeys(("float6e2m3", "float6e3m2"), 6),
    **dict.fromkeys(("int2", "uint2"), 2),
}
"""Element types of which runtimes hold several in a byte, and their bits; on the wire each has its own."""

_NAMES = {np.dtype(dtype): name for name, dtype in NATIVE.items()}
_EXTENDED_NAMES = {theirs: ours for ours, theirs in EXTENDED.items()}


def to_numpy(tensor: WireTensor) -> Any:
    """An array of the element type's own numpy type (ml_dtypes' for extended ones; strings: str objects)."""
    name = tensor.element_type
    if name == "string":
        return _to_strings(tensor)
    if name in NATIVE:
        return _to_storage(tensor, NATIVE[name])
    if name not in EXTENDED:
        raise WorkerFault("unknown element type %r" % name)
    wanted = _extended_type(name)
    stored = _to_storage(tensor, STORAGE[name])
    return stored.astype(wanted) if name in _SMALL_INTEGERS else stored.view(wanted)


def to_storage(tensor: WireTensor) -> Any:
    """An array of plain numpy: extended element types as their bits (small integers as their values)."""
    name = tensor.element_type
    if name in STORAGE:
        return _to_storage(tensor, STORAGE[name])
    return to_numpy(tensor)


def from_numpy(value: Any) -> Union[WireTensor, NotTensor]:
    """What a runtime returned, to be sent: arrays and numpy scalars as tensors, all else as NotTensor."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return NotTensor(value)
    array = np.asarray(value)
    shape = tuple(int(extent) for extent in array.shape)
    name = _NAMES.get(array.dtype.newbyteorder("="))
    if name is not None:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return WireTensor(name, shape, little.tobytes())
    if array.dtype.kind in "OSU":
        encoded = _encode_strings(array)
        return NotTensor(value) if encoded is None else WireTensor("string", shape, encoded)
    extended = _EXTENDED_NAMES.get(array.dtype.name)
    if extended is None:
        return NotTensor(value)
    plain = STORAGE[extended]
    stored = array.astype(plain) if extended in _SMALL_INTEGERS else array.view(plain)
    return WireTensor(extended, shape, stored.astype(np.dtype(plain).newbyteorder("<")).tobytes())


def from_storage(element_type: str, array: Any) -> WireTensor:
    """A tensor of an extended element type from its storage (see STORAGE), of any other from its array."""
    if element_type not in STORAGE:
        converted = from_numpy(np.asarray(array))
        if not isinstance(converted, WireTensor) or converted.element_type != element_type:
            raise WorkerFault("an array of %s is no %s" % (np.asarray(array).dtype, element_type))
        return converted
    plain = np.dtype(STORAGE[element_type])
    stored = np.asarray(array)
    if stored.dtype.itemsize != plain.itemsize:
        raise WorkerFault("an array of %s does not hold %s" % (stored.dtype, element_type))
    shape = tuple(int(extent) for extent in stored.shape)
    return WireTensor(element_type, shape, np.ascontiguousarray(stored).tobytes())


def to_plain(value: Any) -> Any:
    """An input as runtimes of Python take it: an array, a list of what it holds, a dictionary, or None."""
    if isinstance(value, list):
        return [to_plain(each) for each in value]
    if isinstance(value, WireMap):
        keys, values = to_numpy(value.keys).tolist(), to_numpy(value.values).tolist()
        return {key: values[place] for place, key in enumerate(keys)}
    return None if value is None else to_numpy(value)


def from_plain(value: Any, kind: str) -> Any:
    """What a runtime returned for an output of a type; a dictionary tells no element types of its own."""
    if kind.startswith("optional("):
        held = kind[len("optional(") : -1]
        return WireOptional(None if value is None else from_plain(value, held))
    if isinstance(value, list) and kind.startswith("seq("):
        return [from_plain(each, kind[len("seq(") : -1]) for each in value]
    if isinstance(value, dict) and kind.startswith("map("):
        key, _, of = kind[len("map(") : -1].partition(",")
        held = of.strip()[len("tensor(") : -1]
        try:
            return WireMap(_from_list(list(value), key), _from_list(list(value.values()), held))
        except (TypeError, ValueError, OverflowError, KeyError):
            return NotTensor(value)
    return from_numpy(value)


def _from_list(items: List[Any], element_type: str) -> WireTensor:
    plain = np.dtype(object if element_type == "string" else NATIVE[element_type])
    found = from_numpy(np.array(items, dtype=plain))
    if not isinstance(found, WireTensor):
        raise TypeError("no %s" % element_type)
    return found


def pack(element_type: str, stored: Any) -> Any:
    """Elements in storage as bytes that hold several of them, the first in the lowest bits, without gaps."""
    flat = np.ascontiguousarray(stored.reshape(-1)).view(np.uint8)
    each = np.unpackbits(flat.reshape(-1, 1), axis=1, bitorder="little")
    return np.packbits(each[:, : PACKED[element_type]].reshape(-1), bitorder="little")


def unpack(element_type: str, packed: Any, shape: Sequence[int]) -> Any:
    """The inverse of `pack`."""
    bits = PACKED[element_type]
    count = int(np.prod(shape, dtype=np.int64))
    each = np.unpackbits(packed.reshape(-1), bitorder="little")[: count * bits].reshape(count, bits)
    flat = np.packbits(each, axis=1, bitorder="little").reshape(tuple(shape))
    if STORAGE[element_type] == "uint8":
        return flat
    sign = 1 << (bits - 1)
    return (flat ^ np.uint8(sign)).astype(np.int8) - np.int8(sign)


def _to_storage(tensor: WireTensor, dtype: str) -> Any:
    plain = np.dtype(dtype)
    array = np.frombuffer(tensor.data, plain.newbyteorder("<")).reshape(tensor.shape)
    return array.astype(plain)  # a copy: runtimes may want to write, and the frame's buffer is shared


def _extended_type(name: str) -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise Unsupported("%s needs ml_dtypes in the runtime's environment" % name) from None
    try:
        return np.dtype(getattr(ml_dtypes, EXTENDED[name]))
    except AttributeError:
        raise Unsupported("%s is not in this version of ml_dtypes" % name) from None


def _to_strings(tensor: WireTensor) -> Any:
    count = 1
    for extent in tensor.shape:
        count *= extent
    found = np.empty(count, dtype=object)
    offset = 0
    for position in range(count):
        (length,) = struct.unpack_from("<I", tensor.data, offset)
        raw = tensor.data[offset + 4 : offset + 4 + length]
        found[position] = raw.decode("utf-8", "surrogateescape")
        offset += 4 + length
    return found.reshape(tensor.shape)


def to_bytes(tensor: WireTensor) -> Any:
    """The strings of a tensor as an array of bytes."""
    found = _to_strings(tensor)
    flat = found.reshape(-1)
    for position, each in enumerate(flat.tolist()):
        flat[position] = each.encode("utf-8", "surrogateescape")
    return found


def _encode_strings(array: Any) -> Union[bytes, None]:
    parts: List[Tuple[bytes, bytes]] = []
    for each in array.reshape(-1).tolist():
        if isinstance(each, str):
            raw = each.encode("utf-8", "surrogateescape")
        elif isinstance(each, bytes):
            raw = each
        else:
            return None
        parts.append((struct.pack("<I", len(raw)), raw))
    return b"".join(length + raw for length, raw in parts)
