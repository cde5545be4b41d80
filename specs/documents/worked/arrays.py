"""Values of example code, and the functions, methods and operators that it is read with."""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.model.worked_values import Assignment, Bounds


@dataclass(frozen=True)
class UnknownValue:
    """A value that is not read: random data, or a call outside the whitelist; shape and type where known."""

    shape: tuple[int, ...] | None = None
    dtype: np.dtype[Any] | None = None


@dataclass(frozen=True)
class SliceOfUnknown:
    """A slice of a variable whose data is unknown: `x[5:15, 1:8, :]`."""

    name: str
    index: tuple[Bounds, ...]
    shape: tuple[int, ...] | None
    dtype: np.dtype[Any] | None


@dataclass(frozen=True)
class Built:
    """Zeros into which slices of unknown variables were assigned."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    steps: tuple[Assignment, ...] = ()


@dataclass(frozen=True)
class Typed:
    """A tensor made by make_tensor: shape, flattened elements, element type (our name)."""

    shape: tuple[int, ...]
    data: tuple[Any, ...]
    element_type: str


UNREAD = UnknownValue()


def is_read(value: Any) -> bool:
    """Whether a value, and everything in it, is an array or Python's own."""
    if isinstance(value, list):
        return all(map(is_read, value))
    if isinstance(value, dict):
        return all(map(is_read, value.values()))
    return not isinstance(value, UnknownValue | SliceOfUnknown | Built | Typed)


OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


def extent(left: Any, right: Any) -> int:
    """How large the result of an operation can be: elements, letters, or digits."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return math.prod(np.broadcast_shapes(np.shape(left), np.shape(right)))
    if isinstance(left, list | str) and isinstance(right, list | str):
        return len(left) + len(right)
    digits = sum(each.bit_length() for each in (left, right) if isinstance(each, int))
    return digits * digits


MOST_ITEMS = 64
"""The longest list that a loop or a comprehension goes through."""


def _range(*bounds: Any) -> Any:
    items = range(*bounds)
    return list(items) if len(items) <= MOST_ITEMS else UNREAD


def _list(value: Any) -> Any:
    return list(value) if isinstance(value, list | dict) else UNREAD


def _number(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        scalar = getattr(value, "shape", None) == () and is_read(value)
        return convert(value) if isinstance(value, int | float) or scalar else UNREAD

    return call


def _len(value: Any) -> Any:
    return len(value) if isinstance(value, list | dict | str) else UNREAD


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, str | int | float) else UNREAD


def _absolute(value: Any) -> Any:
    return abs(value) if isinstance(value, int | float) else UNREAD


def _enumerate(value: Any) -> Any:
    return [[position, each] for position, each in enumerate(value)] if isinstance(value, list) else UNREAD


def _zip(*values: Any) -> Any:
    if any(not isinstance(value, list) for value in values):
        return UNREAD
    return [list(each) for each in zip(*values, strict=False)]


def _product(*values: Any) -> Any:
    return _combined(itertools.product(*map(_items, values)))


def _permutations(value: Any) -> Any:
    return _combined(itertools.permutations(_items(value)))


def _items(value: Any) -> list[Any]:
    """The items of a list or of an array of one axis; raises TypeError on anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return list(value.tolist())
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _combined(items: Iterable[tuple[Any, ...]]) -> Any:
    found = [list(item) for item in itertools.islice(items, MOST_ITEMS + 1)]
    return found if len(found) <= MOST_ITEMS else UNREAD


ITERTOOLS: dict[str, Callable[..., Any]] = {"product": _product, "permutations": _permutations}
PLAIN_CALLS: dict[str, Callable[..., Any]] = {
    "abs": _absolute,
    "enumerate": _enumerate,
    "float": _number(float),
    "int": _number(int),
    "len": _len,
    "list": _list,
    "range": _range,
    "str": _text,
    "tuple": _list,
    "zip": _zip,
}
PLAIN_METHODS: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "items": lambda value: [[key, each] for key, each in value.items()],
    "keys": lambda value: list(value),
    "values": lambda value: list(value.values()),
}


MOST_ELEMENTS = 1_000_000

DTYPES = {
    name: np.dtype(name)
    for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
                 "uint32", "uint64", "bool", "complex64", "complex128", "object")
} | {"bool_": np.dtype(bool), "object_": np.dtype(object), "double": np.dtype("float64")}  # fmt: skip
CODES = {element_type.name.upper(): element_type.code for element_type in ELEMENT_TYPES.values()} | {
    "FLOAT6E2M3": 27,
    "FLOAT6E3M2": 28,
}
"""The numbers of ONNX's TensorProto, those included of types that no call here can carry."""

_BY_CODE = {code: name.lower() for name, code in CODES.items()}


def construct(name: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """The value of a call `np.<name>(...)`."""
    if not is_read([*arguments, *keywords.values()]):
        dtype = _dtype(keywords.get("dtype"))
        known = bool(arguments) and isinstance(arguments[0], UnknownValue) and name in ("array", "asarray")
        return replace(arguments[0], dtype=dtype) if dtype and known else UNREAD
    if name in DTYPES:
        return np.array(arguments[0] if arguments else 0, dtype=DTYPES[name])
    if name == "dtype":
        return _dtype(arguments[0]) or UNREAD
    dtype = _dtype(keywords.get("dtype"))
    if dtype is None and keywords.get("dtype") is not None:
        return UNREAD
    if name in ("array", "asarray"):
        return np.array(arguments[0], dtype=_dtype(arguments[1]) if len(arguments) > 1 else dtype)
    if name == "arange":
        return _arange(arguments, dtype)
    if name in ("zeros", "ones", "full"):
        return _filled(name, arguments, keywords, dtype)
    if name == "reshape" and len(arguments) == 2:
        return np.array(arguments[0]).reshape(_shape(arguments[1]))
    if name == "prod" and len(arguments) == 1 and not keywords:
        return math.prod(_shape(arguments[0]))
    return UNREAD


def _arange(arguments: Sequence[Any], dtype: np.dtype[Any] | None) -> Any:
    bounds = [float(argument) for argument in arguments]
    start, stop, step = ((0.0, bounds[0], 1.0), (*bounds, 1.0), tuple(bounds))[len(bounds) - 1]
    if abs((stop - start) / step) > MOST_ELEMENTS:
        return UNREAD
    if all(isinstance(argument, int) for argument in arguments):
        return np.arange(*arguments, dtype=dtype)
    return _steps(start, step, max(math.ceil((stop - start) / step), 0), dtype or np.dtype("float64"))


def _steps(start: float, step: float, count: int, dtype: np.dtype[Any]) -> Any:
    """What numpy's arange makes of floats, with every rounding: its own may fuse the product and the sum."""
    first, second = np.array([start, start + step]).astype(dtype)
    found = first + np.arange(count).astype(dtype) * (second - first)
    found[1:2] = second
    return found


def _filled(name: str, arguments: Sequence[Any], keywords: dict[str, Any], dtype: Any) -> Any:
    shape = _shape(arguments[0] if arguments else keywords["shape"])
    if math.prod(shape) > MOST_ELEMENTS:
        return UNREAD
    if len(arguments) > (2 if name == "full" else 1):
        dtype = _dtype(arguments[-1])
    if name == "full":
        return np.full(shape, arguments[1] if len(arguments) > 1 else keywords["fill_value"], dtype=dtype)
    return np.full(shape, int(name == "ones"), dtype=dtype or np.dtype(float))


def draw_random(name: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> UnknownValue:
    """A call `np.random.<name>(...)`: the shape is a fact, the data is not."""
    size = keywords.get("size")
    if name in ("randn", "rand"):
        return UnknownValue(_shape(list(arguments)), np.dtype("float64"))
    if size is None:
        places = {"uniform": 2, "normal": 2, "randint": 2, "random": 0, "random_sample": 0, "ranf": 0}
        position = places.get(name)
        if position is None or len(arguments) <= position:
            return UNREAD
        size = arguments[position]
    dtype = _dtype(keywords.get("dtype")) or np.dtype("int64" if name == "randint" else "float64")
    return UnknownValue(_shape(size), dtype)


def make_tensor(arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A tensor of ONNX's helper `make_tensor(name, data_type, dims, vals)`; packed bytes are not read."""
    given = {**dict(zip(("name", "data_type", "dims", "vals", "raw"), arguments, strict=False)), **keywords}
    code, values = given.get("data_type"), given.get("vals")
    if not isinstance(code, int) or code not in _BY_CODE or not is_read(given):
        return UNREAD
    shape = _shape(given["dims"])
    if not isinstance(values, list | np.ndarray):
        return UNREAD
    flat = np.asarray(values).reshape(-1).tolist()
    if len(flat) != math.prod(shape) or not all(
        isinstance(number, bool | int | float | str) for number in flat
    ):
        return UNREAD
    return Typed(shape, tuple(flat), _BY_CODE[code])


def call_method(target: Any, name: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """The value of a method call on an array, or on one of which only shape and type are known."""
    if name == "astype" and isinstance(target, UnknownValue | SliceOfUnknown):
        return replace(target, dtype=_dtype(arguments[0] if arguments else keywords.get("dtype")))
    if name == "reshape" and isinstance(target, UnknownValue) and target.shape is not None:
        shape = _shape(arguments[0] if len(arguments) == 1 else list(arguments))
        return UnknownValue(np.empty(target.shape, bool).reshape(shape).shape, target.dtype)
    if not isinstance(target, np.ndarray | np.generic):
        return UNREAD
    array: NDArray[Any] = np.asarray(target)
    if name == "astype":
        dtype = _dtype(arguments[0] if arguments else keywords.get("dtype"))
        return UNREAD if dtype is None else array.astype(dtype)
    if name == "reshape":
        return array.reshape(_shape(arguments[0] if len(arguments) == 1 else list(arguments)))
    if name == "tolist" and not arguments:
        return array.tolist()
    if name in ("flatten", "copy") and not arguments:
        found: NDArray[Any] = getattr(array, name)()
        return found
    return UNREAD


def _dtype(value: Any) -> np.dtype[Any] | None:
    if isinstance(value, np.dtype):
        return value
    return DTYPES.get(value) if isinstance(value, str) else None


def _shape(value: Any) -> tuple[int, ...]:
    items = value if isinstance(value, list | tuple | np.ndarray) else [value]
    return tuple(operator.index(item) for item in items)
