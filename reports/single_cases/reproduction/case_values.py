"""What stands in a case's folder, as arrays, and how an answer is compared with it; numpy and onnx alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent.parent
"""The case's folder; what it carries lies in `runtimes` there."""
Inputs = list[tuple[str, Any]]
TIME_LIMIT = 60.0
SMALL_INTEGERS = ("int4", "uint4", "int2", "uint2")


class BareRuntime(NamedTuple):
    """How a runtime is called: by `run`, with a case, its model, the inputs of each call, and threads.

    `module` must be there; `domain` is that of its own operators; without `takes_models` it has no others.
    """

    run: Callable[[dict[str, Any], bytes, list[Inputs], int], list[list[Any]]]
    module: str
    domain: str = ""
    takes_models: bool = True
    first_form: str = "inputs"
    threads: int = 1
    """As many as in a run, unless it is told another number."""
    chooses_threads: bool = False
    takes_values: bool = False
    """Whether sequences, optionals and maps may stand at the ends of a graph."""
    lacks: Callable[[Any], bool] = lambda _: False
    """Whether it, or its Python interface, has no tensors of an array's type."""


class NotThere(Exception):
    """What is to be tried is not here, or there is nothing to compare with: that says nothing of the case."""


class OtherKind(Exception):
    """What came is not the kind of value that was to come."""


def read_tensor(name: str) -> Any:
    """The array of a serialized TensorProto beside this script; strings become an object array."""
    return array_of(onnx.TensorProto.FromString((HERE / name).read_bytes()))


def array_of(message: Any) -> Any:
    if message.data_type == onnx.TensorProto.STRING:
        found = np.empty(len(message.string_data), dtype=object)
        found[:] = [each.decode("utf-8", "surrogateescape") for each in message.string_data]
        return found.reshape(tuple(message.dims))
    return numpy_helper.to_array(message).copy()  # some runtimes want to write where they read


def read_value(entry: dict[str, Any]) -> Any:
    """An input as runtimes of Python take it: an array, a list of what it holds, a dictionary, or None."""
    kind = entry.get("type")
    if kind is None:
        return read_tensor(entry["file"])
    messages: dict[str, Any] = {
        "seq": onnx.SequenceProto,
        "map": onnx.MapProto,
        "optional": onnx.OptionalProto,
    }
    raw = (HERE / entry["file"]).read_bytes()
    return value_of(messages[kind.partition("(")[0]].FromString(raw))


def value_of(message: Any) -> Any:
    if isinstance(message, onnx.TensorProto):
        return array_of(message)
    if isinstance(message, onnx.SequenceProto):
        return [value_of(each) for each in (*message.tensor_values, *message.map_values)]
    if isinstance(message, onnx.MapProto):
        keys = [*message.keys, *(each.decode("utf-8", "surrogateescape") for each in message.string_keys)]
        values = [array_of(each).item() for each in message.values.tensor_values]
        return dict(zip(keys, values, strict=True))
    held = [field for field in ("tensor_value", "sequence_value", "map_value") if message.HasField(field)]
    return value_of(getattr(message, held[0])) if held else None


def parts_of(value: Any, kind: str | None) -> list[Any]:
    """The arrays of an output: of a sequence its length and elements, of an optional whether it holds
    something and what, of a map its keys in order and its values."""
    word, _, inner = (kind or "tensor").partition("(")
    inner = inner[:-1]
    if word == "optional":
        return [np.array(value is not None), *([] if value is None else parts_of(value, inner))]
    if word == "seq" and isinstance(value, list):
        return [np.array(len(value), np.int64), *(part for each in value for part in parts_of(each, inner))]
    if word == "map" and isinstance(value, dict):
        key, _, of = inner.partition(",")
        keys = sorted(value)
        return [
            np.array(keys, plain_type(key)),
            np.array([value[each] for each in keys], plain_type(of[7:-1])),
        ]
    if word == "tensor" and isinstance(value, np.ndarray | np.generic):
        return [np.asarray(value)]
    raise OtherKind(f"no {word} but a {type(value).__name__}")


def plain_type(name: str) -> Any:
    return {"string": object, "float": np.float32, "double": np.float64}.get(name) or np.dtype(name)


def has_plain_type(array: Any) -> bool:
    """Whether numpy itself has the type; bfloat16, float8, 4 and 2 bits come from ml_dtypes."""
    return bool(array.dtype.isbuiltin == 1)


def of_bytes(dtype: Any, shape: Any, read: Callable[[int], bytes]) -> Any:
    """An array of a type that numpy lacks; `read` gets how many bytes it has, several elements in one."""
    message = numpy_helper.from_array(np.zeros(tuple(shape), dtype))
    message.raw_data = read(len(message.raw_data))
    return numpy_helper.to_array(message)


def numbers(array: Any) -> Any:
    """Values that can be subtracted: float64, complex128, or Python's integers."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if array.dtype.kind in "iu" or array.dtype.name in SMALL_INTEGERS:
        return array.astype(object)
    return array.astype(np.float64)


def same(got: Any, wanted: Any) -> Any:
    """Where elements are equal bit for bit; any two NaN are, the two zeros are not."""
    if got.dtype.kind in "OSUbiu" or got.dtype.name in SMALL_INTEGERS:
        return np.asarray(got == wanted, dtype=bool).reshape(got.shape)
    if got.dtype.kind == "c":
        return same(got.real.copy(), wanted.real.copy()) & same(got.imag.copy(), wanted.imag.copy())
    left, right = numbers(got), numbers(wanted)
    equal = (left == right) & (np.signbit(left) == np.signbit(right))
    return equal | (np.isnan(left) & np.isnan(right))


def distances(got: Any, wanted: Any, equal: Any) -> Any:
    """How far apart elements are; infinitely far where no distance can be told."""
    if got.dtype.kind in "OSUb":
        return np.where(equal, 0.0, np.inf)
    with np.errstate(all="ignore"):
        apart = np.asarray(np.abs(numbers(got) - numbers(wanted)), np.float64)
    return np.where(equal, 0.0, np.where(np.isnan(apart), np.inf, apart))


def compare(got: Any, expected: dict[str, Any]) -> tuple[bool, str]:
    """Whether one output is right, and a line about its worst element."""
    wanted = read_tensor(expected["file"])
    if got.dtype != wanted.dtype and not (got.dtype.kind in "OSU" and wanted.dtype.kind in "OSU"):
        return False, f"element type {got.dtype} instead of {wanted.dtype}"
    if got.shape != wanted.shape:
        return False, f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    right = same(got, wanted)
    apart = distances(got, wanted, right)
    limit = read_tensor(expected["allowed"]) if expected["allowed"] else np.zeros(wanted.shape)
    if expected["allowed"]:
        right = right | (apart <= limit)
    if expected["alternatives"]:
        values = read_tensor(expected["alternatives"]["file"])
        flat = right.reshape(-1)
        chosen = got.reshape(-1)[expected["alternatives"]["index"]]
        for index, fits in zip(expected["alternatives"]["index"], same(chosen, values), strict=True):
            flat[index] |= fits
        right = flat.reshape(right.shape)
    if right.all():
        return True, "every element is as it must be"
    with np.errstate(all="ignore"):
        ratio = np.where(right, -1.0, np.where(limit > 0, apart / limit, np.inf))
    order = np.where(ratio == ratio.max(), np.where(right, -1.0, apart), -1.0)
    index = np.unravel_index(int(np.argmax(order)), wanted.shape)
    place = [int(coordinate) for coordinate in index]
    text = f"{int(np.count_nonzero(~right))} of {right.size} elements wrong; worst at {place}: "
    text += f"got {got[index]}, expected {wanted[index]}, allowed error {limit[index]:g}"
    if np.isfinite(ratio[index]):
        text += f", error over allowed {ratio[index]:.3g}"
    return False, text
