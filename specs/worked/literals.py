"""Reading the values of example code: a whitelist of literals and array constructors over the syntax tree."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specs.relations import Bounds, Step

MOST_ELEMENTS = 1_000_000


@dataclass(frozen=True)
class Unknown:
    """A value that is not read: random data, or a call outside the whitelist; shape and type where known."""

    shape: tuple[int, ...] | None = None
    dtype: np.dtype[Any] | None = None


@dataclass(frozen=True)
class Part:
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
    steps: tuple[Step, ...] = ()


UNREAD = Unknown()
_DTYPES = {
    name: np.dtype(name)
    for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
                 "uint32", "uint64", "bool", "complex64", "complex128", "object")
} | {"bool_": np.dtype(bool), "object_": np.dtype(object), "double": np.dtype("float64")}  # fmt: skip
_SCALARS = {"nan": math.nan, "inf": math.inf, "pi": math.pi, "newaxis": None}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


class LiteralReader:
    """Values of expressions under the variables assigned so far; whatever is not whitelisted is `UNREAD`."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self.variables = variables

    def read(self, node: ast.expr) -> Any:
        """The value of an expression, never by running it; never raises."""
        try:
            value = self._read(node)
        except (TypeError, ValueError, IndexError, KeyError, ArithmeticError, MemoryError, RecursionError):
            return UNREAD
        return UNREAD if isinstance(value, np.ndarray) and value.size > MOST_ELEMENTS else value

    def _read(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.variables.get(node.id, UNREAD)
            case ast.List() | ast.Tuple():
                return self._sequence([self._read(each) for each in node.elts])
            case ast.UnaryOp(op=ast.USub()):
                value = self._read(node.operand)
                return value if isinstance(value, Unknown) else -value
            case ast.BinOp():
                return self._operation(node)
            case ast.JoinedStr():
                return self._formatted(node)
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
                return _DTYPES.get(name, _SCALARS.get(name, UNREAD))
            case ast.Attribute(attr="shape"):
                value = self._read(node.value)
                return getattr(value, "shape", UNREAD)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
        return UNREAD

    @staticmethod
    def _sequence(items: list[Any]) -> Any:
        return UNREAD if any(isinstance(each, Unknown | Part | Built) for each in items) else items

    def _operation(self, node: ast.BinOp) -> Any:
        left, right = self._read(node.left), self._read(node.right)
        for each in (left, right):
            if isinstance(each, Unknown | Part | Built):
                return UNREAD
            if isinstance(each, str | list) and isinstance(node.op, ast.Mult):
                return UNREAD
        with np.errstate(all="ignore"):
            return _OPERATIONS[type(node.op)](left, right)

    def _formatted(self, node: ast.JoinedStr) -> Any:
        text = ""
        for each in node.values:
            value = each.value if isinstance(each, ast.FormattedValue | ast.Constant) else each
            part = self._read(value) if isinstance(value, ast.expr) else value
            if not isinstance(part, str | int | float):
                return UNREAD
            text += str(part)
        return text

    def index(self, node: ast.expr) -> tuple[Bounds, ...]:
        """An index made of slices; raises ValueError on anything else."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        index: list[Bounds] = []
        for part in parts:
            if not isinstance(part, ast.Slice):
                raise ValueError("not a slice")
            bounds = [
                None if each is None else self._read(each) for each in (part.lower, part.upper, part.step)
            ]
            if any(not isinstance(each, int | None) for each in bounds):
                raise ValueError("not a literal slice")
            index.append((bounds[0], bounds[1], bounds[2]))
        return tuple(index)

    def _subscript(self, node: ast.Subscript) -> Any:
        value = self._read(node.value)
        if isinstance(value, Unknown) and isinstance(node.value, ast.Name):
            index = self.index(node.slice)
            return Part(node.value.id, index, _sliced(value.shape, index), value.dtype)
        if isinstance(value, np.ndarray | list | str):
            if isinstance(node.slice, ast.Slice | ast.Tuple) and not isinstance(value, list | str):
                return value[tuple(slice(*each) for each in self.index(node.slice))]
            item = self._read(node.slice)
            return value[item] if isinstance(item, int) else UNREAD
        return UNREAD

    def _call(self, node: ast.Call) -> Any:
        arguments = [self._read(each) for each in node.args]
        keywords = {str(each.arg): self._read(each.value) for each in node.keywords}
        match node.func:
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
                return _construct(name, arguments, keywords)
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"), attr=name
            ):
                return _random(name, arguments, keywords)
            case ast.Attribute(value=target, attr=name):
                return _method(self._read(target), name, arguments, keywords)
            case ast.Name(id="list" | "tuple" | "int" | "float" as name) if len(arguments) == 1:
                value = arguments[0]
                readers: dict[str, Callable[[Any], Any]] = {"int": int, "float": float}
                return readers.get(name, list)(value) if isinstance(value, list | int | float) else UNREAD
        return UNREAD


def _construct(name: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    values = [*arguments, *keywords.values()]
    if any(isinstance(each, Unknown | Part | Built) for each in values):
        dtype = _dtype(keywords.get("dtype"))
        return replace(arguments[0], dtype=dtype) if dtype and isinstance(arguments[0], Unknown) else UNREAD
    if name in _DTYPES:
        return np.array(arguments[0] if arguments else 0, dtype=_DTYPES[name])
    dtype = _dtype(keywords.get("dtype"))
    if name in ("array", "asarray"):
        return np.array(arguments[0], dtype=_dtype(arguments[1]) if len(arguments) > 1 else dtype)
    if name == "arange":
        bounds = [float(each) for each in arguments]
        start, stop, step = ((0.0, bounds[0], 1.0), (*bounds, 1.0), tuple(bounds))[len(bounds) - 1]
        if abs((stop - start) / step) > MOST_ELEMENTS:
            return UNREAD
        return np.arange(*arguments, dtype=dtype)
    if name in ("zeros", "ones", "full"):
        shape = _shape(arguments[0] if arguments else keywords["shape"])
        if math.prod(shape) > MOST_ELEMENTS:
            return UNREAD
        if len(arguments) > (2 if name == "full" else 1):
            dtype = _dtype(arguments[-1])
        if name == "full":
            return np.full(shape, arguments[1] if len(arguments) > 1 else keywords["fill_value"], dtype=dtype)
        return np.full(shape, int(name == "ones"), dtype=dtype or np.dtype(float))
    return UNREAD


def _random(name: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> Unknown:
    """Random data: the shape is a fact, the data is not."""
    size = keywords.get("size")
    if name in ("randn", "rand"):
        return Unknown(_shape(list(arguments)), np.dtype("float64"))
    if size is None:
        position = {"uniform": 2, "normal": 2, "randint": 2, "random": 0, "random_sample": 0, "ranf": 0}.get(
            name
        )
        if position is None or len(arguments) <= position:
            return UNREAD
        size = arguments[position]
    dtype = _dtype(keywords.get("dtype")) or np.dtype("int64" if name == "randint" else "float64")
    return Unknown(_shape(size), dtype)


def _method(target: Any, name: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    if name == "astype" and isinstance(target, Unknown | Part):
        return replace(target, dtype=_dtype(arguments[0] if arguments else keywords.get("dtype")))
    if name == "reshape" and isinstance(target, Unknown) and target.shape is not None:
        shape = _shape(arguments[0] if len(arguments) == 1 else list(arguments))
        return Unknown(np.empty(target.shape, bool).reshape(shape).shape, target.dtype)
    if not isinstance(target, np.ndarray):
        return UNREAD
    if name == "astype":
        dtype = _dtype(arguments[0] if arguments else keywords.get("dtype"))
        return UNREAD if dtype is None else target.astype(dtype)
    if name == "reshape":
        return target.reshape(_shape(arguments[0] if len(arguments) == 1 else list(arguments)))
    if name in ("flatten", "copy") and not arguments:
        found: NDArray[Any] = getattr(target, name)()
        return found
    return UNREAD


def _dtype(value: Any) -> np.dtype[Any] | None:
    if isinstance(value, np.dtype):
        return value
    return _DTYPES.get(value) if isinstance(value, str) else None


def _shape(value: Any) -> tuple[int, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(operator.index(each) for each in items)


def _sliced(shape: tuple[int, ...] | None, index: tuple[Bounds, ...]) -> tuple[int, ...] | None:
    if shape is None or len(index) > len(shape):
        return None
    extents = [len(range(*slice(*each).indices(extent))) for each, extent in zip(index, shape, strict=False)]
    return (*extents, *shape[len(index) :])
