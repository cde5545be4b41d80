"""Reading the values of example code: a whitelist of literals and array constructors over the syntax tree."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from specs.documents.worked.arrays import (
    CODES,
    DTYPES,
    ITERTOOLS,
    MOST_ITEMS,
    OPERATIONS,
    PLAIN_CALLS,
    PLAIN_METHODS,
    UNREAD,
    SliceOfUnknown,
    UnknownValue,
    call_method,
    construct,
    draw_random,
    extent,
    is_read,
    make_tensor,
)
from specs.language.evaluation import COMPARE
from specs.model.worked_values import Bounds

MOST_STEPS = 500_000
"""The most expressions that are read of one example."""


class TooLong(ValueError):
    """An example makes more steps than are read."""


class EvaluationBudget:
    """How much may still be read of one example; reading beyond it raises TooLong."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._steps = steps

    def spend(self, steps: int = 1) -> None:
        """Take steps."""
        self._steps -= steps
        if self._steps < 0:
            raise TooLong("the example is too long")


MOST_ELEMENTS = 1_000_000

_SCALARS = {"nan": math.nan, "inf": math.inf, "pi": math.pi, "newaxis": None}
_BUILTIN_TYPES = {"object": "object", "bool": "bool", "float": "float64", "int": "int64"}


class LiteralReader:
    """Values of expressions under the variables assigned so far; whatever is not whitelisted is `UNREAD`."""

    def __init__(self, variables: Mapping[str, Any], budget: EvaluationBudget | None = None) -> None:
        self.variables = dict(variables)
        self._budget = budget if budget is not None else EvaluationBudget()

    def read(self, node: ast.expr) -> Any:
        """The value of an expression, never by running it; never raises."""
        try:
            value = self._read(node)
        except (TypeError, ValueError, IndexError, KeyError, ArithmeticError, MemoryError, RecursionError):
            return UNREAD
        return UNREAD if isinstance(value, np.ndarray) and value.size > MOST_ELEMENTS else value

    def truth(self, node: ast.expr) -> bool | None:
        """Whether a condition holds; None where it is not read."""
        value = self.read(node)
        if not is_read(value) or isinstance(value, np.ndarray):
            return None
        return bool(value)

    def index(self, node: ast.expr) -> tuple[Bounds, ...]:
        """An index made of slices; raises ValueError on anything else."""
        return tuple(self._bounds(part) for part in _parts(node))

    def position(self, node: ast.expr) -> tuple[Any, ...]:
        """An index made of slices and integers; raises ValueError on anything else."""
        items: list[Any] = []
        for part in _parts(node):
            if isinstance(part, ast.Slice):
                items.append(slice(*self._bounds(part)))
                continue
            value = self._read(part)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError("not a literal index")
            items.append(value)
        return tuple(items)

    def _bounds(self, node: ast.expr) -> Bounds:
        if not isinstance(node, ast.Slice):
            raise ValueError("not a slice")
        bounds = [None if each is None else self._read(each) for each in (node.lower, node.upper, node.step)]
        if any(not isinstance(bound, int | None) for bound in bounds):
            raise ValueError("not a literal slice")
        return (bounds[0], bounds[1], bounds[2])

    def _read(self, node: ast.expr) -> Any:
        self._budget.spend()
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node.id)
            case ast.List() | ast.Tuple():
                return [each for item in node.elts for each in self._items(item)]
            case ast.Dict(keys=keys, values=values):
                return {self._key(key): self._read(value) for key, value in zip(keys, values, strict=True)}
            case ast.UnaryOp(op=ast.USub()):
                value = self._read(node.operand)
                return -value if is_read(value) else UNREAD
            case ast.UnaryOp(op=ast.Not()):
                found = self.truth(node.operand)
                return UNREAD if found is None else not found
            case ast.BinOp():
                return self._operation(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp():
                return self._logic(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                found = self.truth(test)
                return UNREAD if found is None else self._read(body if found else orelse)
            case ast.JoinedStr():
                return self._formatted(node)
            case ast.ListComp(elt=element, generators=[ast.comprehension(ifs=[]) as loop]):
                return self._comprehension(element, loop)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
        return UNREAD

    def _name(self, name: str) -> Any:
        if name in self.variables:
            return self.variables[name]
        return DTYPES[_BUILTIN_TYPES[name]] if name in _BUILTIN_TYPES else UNREAD

    def _items(self, node: ast.expr) -> list[Any]:
        if not isinstance(node, ast.Starred):
            return [self._read(node)]
        value = self._read(node.value)
        if not isinstance(value, list):
            raise TypeError("not a list")
        return value

    def _key(self, node: ast.expr | None) -> Any:
        value = UNREAD if node is None else self._read(node)
        if not isinstance(value, str | int | float):
            raise TypeError("not a literal key")
        return value

    def _operation(self, node: ast.BinOp) -> Any:
        left, right = self._read(node.left), self._read(node.right)
        if not is_read(left) or not is_read(right):
            return UNREAD
        if isinstance(node.op, ast.Mult) and any(isinstance(each, str | list) for each in (left, right)):
            return UNREAD
        if extent(left, right) > MOST_ELEMENTS:
            return UNREAD
        with np.errstate(all="ignore"):
            return OPERATIONS[type(node.op)](left, right)

    def _comparison(self, node: ast.Compare) -> Any:
        left = self._read(node.left)
        for kind, comparator in zip(node.ops, node.comparators, strict=True):
            right = self._read(comparator)
            if any(not is_read(value) or isinstance(value, np.ndarray) for value in (left, right)):
                return UNREAD
            if not COMPARE[type(kind)](left, right):
                return False
            left = right
        return True

    def _logic(self, node: ast.BoolOp) -> Any:
        wanted = isinstance(node.op, ast.Or)
        found = [self.truth(value) for value in node.values]
        if wanted in found:
            return wanted
        return UNREAD if None in found else not wanted

    def _formatted(self, node: ast.JoinedStr) -> Any:
        text = ""
        for each in node.values:
            value = each.value if isinstance(each, ast.FormattedValue | ast.Constant) else each
            part = self._read(value) if isinstance(value, ast.expr) else value
            if not isinstance(part, str | int | float):
                return UNREAD
            text += str(part)
        return text

    def _comprehension(self, element: ast.expr, loop: ast.comprehension) -> Any:
        items = self._read(loop.iter)
        if not isinstance(items, list) or len(items) > MOST_ITEMS or not isinstance(loop.target, ast.Name):
            return UNREAD
        name = loop.target.id
        return [LiteralReader({**self.variables, name: item}, self._budget)._read(element) for item in items]

    def _attribute(self, node: ast.Attribute) -> Any:
        match node.value:
            case ast.Name(id="np" | "numpy"):
                return DTYPES.get(node.attr, _SCALARS.get(node.attr, UNREAD))
            case ast.Name(id="TensorProto") | ast.Attribute(attr="TensorProto"):
                return CODES.get(node.attr, UNREAD)
        value = self._read(node.value)
        if node.attr == "shape":
            shape = getattr(value, "shape", None)
            return UNREAD if shape is None else list(shape)
        if node.attr in ("dtype", "ndim", "size") and isinstance(value, np.ndarray):
            return getattr(value, node.attr)
        if node.attr == "ndim" and getattr(value, "shape", None) is not None:
            return len(value.shape)
        return UNREAD

    def _subscript(self, node: ast.Subscript) -> Any:
        value = self._read(node.value)
        if isinstance(value, UnknownValue) and isinstance(node.value, ast.Name):
            index = self.index(node.slice)
            return SliceOfUnknown(node.value.id, index, _sliced(value.shape, index), value.dtype)
        if isinstance(value, np.ndarray):
            return value[self.position(node.slice)]
        if isinstance(value, list | str | dict):
            if isinstance(node.slice, ast.Slice):
                return value[slice(*self._bounds(node.slice))] if isinstance(value, list | str) else UNREAD
            item = self._read(node.slice)
            if isinstance(value, dict):
                return value[item] if isinstance(item, int | float | str) else UNREAD
            return value[item] if isinstance(item, int) else UNREAD
        return UNREAD

    def _call(self, node: ast.Call) -> Any:
        arguments = [item for argument in node.args for item in self._items(argument)]
        keywords = {str(keyword.arg): self._read(keyword.value) for keyword in node.keywords}
        match node.func:
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
                return construct(name, arguments, keywords)
            case ast.Attribute(
                value=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"), attr=name
            ):
                return draw_random(name, arguments, keywords)
            case ast.Name(id="make_tensor") | ast.Attribute(attr="make_tensor"):
                return make_tensor(arguments, keywords)
            case ast.Name(id="getattr") if _is_tensor_proto(node.args[0]):
                return CODES.get(arguments[1], UNREAD) if len(arguments) > 1 else UNREAD
            case ast.Attribute(value=ast.Name(id="itertools"), attr=name):
                return ITERTOOLS[name](*arguments) if name in ITERTOOLS and not keywords else UNREAD
            case ast.Attribute(value=target, attr=name):
                value = self._read(target)
                if isinstance(value, dict) and name in PLAIN_METHODS and not arguments:
                    return PLAIN_METHODS[name](value)
                return call_method(value, name, arguments, keywords)
            case ast.Name(id=name) if name in PLAIN_CALLS and not keywords and name not in self.variables:
                return PLAIN_CALLS[name](*arguments)
        return UNREAD


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _is_tensor_proto(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "TensorProto") or (
        isinstance(node, ast.Attribute) and node.attr == "TensorProto"
    )


def _sliced(shape: tuple[int, ...] | None, index: tuple[Bounds, ...]) -> tuple[int, ...] | None:
    if shape is None or len(index) > len(shape):
        return None
    extents = [len(range(*slice(*each).indices(extent))) for each, extent in zip(index, shape, strict=False)]
    return (*extents, *shape[len(index) :])
