"""Evaluation of the whitelisted subset of Python expressions, over the syntax tree and bounded in work."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from opcert.vocabulary.errors import UserError
from specs.functions import find_functions

MOST_STEPS = 500_000
MOST_ITEMS = 1_000_000
MOST_BITS = 4096


class EvaluationError(UserError):
    """An expression that has no value under these names: a missing input, an index outside."""


@dataclass(frozen=True)
class Operand:
    """An input as expressions see it: element type (our name), shape, and elements in row-major order.

    It also acts as the sequence of its elements: `len`, indexing and iteration go over them.
    """

    element_type: str
    shape: tuple[int, ...]
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]


class Operands(list[Operand]):
    """The tensors of a sequence, of what an optional holds, or keys and values of a map, and their type.

    `element_type` is known also where it is empty; `type` is the text of the whole type; `holds_nothing` says
    that it is an optional without a value.
    """

    def __init__(
        self,
        members: Iterable[Operand],
        element_type: str,
        whole_type: str | None = None,
        holds_nothing: bool = False,
    ) -> None:
        super().__init__(members)
        self.element_type = element_type
        self.type = f"seq(tensor({element_type}))" if whole_type is None else whole_type
        self.holds_nothing = holds_nothing


def _bounded(number: Any) -> Any:
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        raise EvaluationError("number too large", expected=f"at most {MOST_BITS} bits")
    if isinstance(number, list | tuple | str) and len(number) > MOST_ITEMS:
        raise EvaluationError("list too long", expected=f"at most {MOST_ITEMS} items")
    return number


def _multiply(left: Any, right: Any) -> Any:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, list | tuple | str) and len(sequence) * max(int(times), 0) > MOST_ITEMS:
            raise EvaluationError("list too long", expected=f"at most {MOST_ITEMS} items")
    return left * right


def _power(base: Any, exponent: Any) -> Any:
    """A power, rounded once; libraries differ in those with a fraction as exponent."""
    if exponent != int(exponent):
        raise EvaluationError(
            "a power with a fraction as exponent", got=str(exponent), expected="a whole one"
        )
    exact = Fraction(base + 0)
    bits = max(exact.numerator.bit_length(), exact.denominator.bit_length())
    if bits * abs(int(exponent)) > MOST_BITS:
        raise EvaluationError("number too large", expected=f"at most {MOST_BITS} bits")
    power = Fraction(exact) ** int(exponent)
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    return int(power) if whole else float(power)


def _sum(items: Iterable[Any]) -> Any:
    """From the first item on; Python's own corrects what rounding loses in newer versions alone."""
    return functools.reduce(operator.add, items, 0)


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def _operand(value: Any, function: str) -> Operand:
    """An input; of a variadic one, and of a sequence, the first tensor."""
    if isinstance(value, list) and value and isinstance(value[0], Operand):
        return value[0]
    if not isinstance(value, Operand):
        raise EvaluationError(f"{function}() asks about an input", got=repr(value))
    return value


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > MOST_ITEMS:
        raise EvaluationError("range too long", got=str(len(numbers)), expected=f"at most {MOST_ITEMS}")
    return list(numbers)


def _shape(value: Any, function: str) -> list[int]:
    """The shape of an input; a pack of extents is one itself."""
    if isinstance(value, list) and all(type(each) is int for each in value):
        return list(value)
    return list(_operand(value, function).shape)


def _element_type(value: Any) -> str:
    return value.element_type if isinstance(value, Operands) else _operand(value, "element_type").element_type


def _flat(value: Any) -> list[Any]:
    return list(_operand(value, "values").values)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "rank": lambda value: len(_shape(value, "rank")),
    "shape": lambda value: _shape(value, "shape"),
    "values": _flat,
    "element_type": _element_type,
    "present": lambda value: value is not None,
    "len": len,
    "min": min,
    "max": max,
    "sum": _sum,
    "abs": abs,
    "all": all,
    "any": any,
    "range": _range,
    "set": set,
    "sorted": sorted,
    "int": int,
    "floor": math.floor,
    "ceil": math.ceil,
    "prod": math.prod,
    "zip": lambda *sequences: list(zip(*sequences, strict=False)),
    "enumerate": lambda sequence: list(enumerate(sequence)),
    **find_functions(),
}
KEYWORDS = {"min": {"default"}, "max": {"default"}}


class Evaluator:
    """One evaluation; counts its steps so that no expression runs for long."""

    def __init__(self) -> None:
        self._steps = 0

    def value(self, node: ast.expr, names: Mapping[str, object]) -> Any:
        """The value of a checked syntax tree; raises EvaluationError where it has none."""
        try:
            return self._value(node, names)
        except RecursionError:
            raise EvaluationError("expression nested too deeply", got=ast.unparse(node)[:80]) from None
        except (TypeError, ValueError, IndexError, KeyError, ArithmeticError) as error:
            raise EvaluationError(
                f"the expression has no value here: {error}", got=ast.unparse(node)
            ) from error

    def _value(self, node: ast.expr, names: Mapping[str, object]) -> Any:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise EvaluationError("expression takes too many steps", expected=f"at most {MOST_STEPS}")
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._look_up(node.id, names)
            case ast.BinOp():
                return self._binary(node, names)
            case ast.UnaryOp():
                return UNARY[type(node.op)](self._value(node.operand, names))
            case ast.BoolOp():
                return self._boolean(node, names)
            case ast.Compare():
                return self._compare(node, names)
            case ast.IfExp():
                chosen = node.body if self._value(node.test, names) else node.orelse
                return self._value(chosen, names)
            case ast.List() | ast.Tuple():
                return [self._value(each, names) for each in node.elts]
            case ast.Set():
                return {self._value(each, names) for each in node.elts}
            case ast.ListComp() | ast.GeneratorExp():
                return list(self._comprehend(node.elt, node.generators, names))
            case ast.SetComp():
                return set(self._comprehend(node.elt, node.generators, names))
            case ast.Subscript():
                return self._value(node.value, names)[self._index(node.slice, names)]
            case ast.Call(func=ast.Name(id=function)):
                keywords = {str(each.arg): self._value(each.value, names) for each in node.keywords}
                return FUNCTIONS[function](*(self._value(each, names) for each in node.args), **keywords)
        raise EvaluationError("not part of the expression language", got=ast.unparse(node))

    @staticmethod
    def _look_up(name: str, names: Mapping[str, object]) -> Any:
        if name not in names:
            raise EvaluationError("unknown name in an expression", got=repr(name))
        return names[name]

    def _binary(self, node: ast.BinOp, names: Mapping[str, object]) -> Any:
        left, right = self._value(node.left, names), self._value(node.right, names)
        return _bounded(BINARY[type(node.op)](left, right))

    def _boolean(self, node: ast.BoolOp, names: Mapping[str, object]) -> Any:
        stop = isinstance(node.op, ast.Or)
        result: Any = None
        for each in node.values:
            result = self._value(each, names)
            if bool(result) is stop:
                break
        return result

    def _compare(self, node: ast.Compare, names: Mapping[str, object]) -> bool:
        left = self._value(node.left, names)
        for kind, each in zip(node.ops, node.comparators, strict=True):
            right = self._value(each, names)
            if not COMPARE[type(kind)](left, right):
                return False
            left = right
        return True

    def _index(self, node: ast.expr, names: Mapping[str, object]) -> Any:
        if isinstance(node, ast.Slice):
            parts = (None if each is None else self._value(each, names) for each in
                     (node.lower, node.upper, node.step))  # fmt: skip
            return slice(*parts)
        return self._value(node, names)

    def _comprehend(
        self, item: ast.expr, loops: list[ast.comprehension], names: Mapping[str, object]
    ) -> Iterator[Any]:
        if not loops:
            yield self._value(item, names)
            return
        first, rest = loops[0], loops[1:]
        for each in self._value(first.iter, names):
            inner = Layered(names, _bind(first.target, each))
            if all(self._value(test, inner) for test in first.ifs):
                yield from self._comprehend(item, rest, inner)


class Layered(Mapping[str, object]):
    """Names with others in front (a comprehension's variables, bound extents); the rest stays lazy."""

    def __init__(self, outer: Mapping[str, object], own: Mapping[str, object]) -> None:
        self._outer, self._own = outer, own

    def __getitem__(self, name: str) -> object:
        return self._own[name] if name in self._own else self._outer[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._outer

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._outer), **self._own})

    def __len__(self) -> int:
        return len(set(self._outer) | set(self._own))


def _bind(target: ast.expr, value: Any) -> dict[str, object]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    assert isinstance(target, ast.Tuple)
    parts = list(value)
    if len(parts) != len(target.elts):
        raise EvaluationError("a loop's variables do not fit its items", got=repr(value))
    bound: dict[str, object] = {}
    for name, part in zip(target.elts, parts, strict=True):
        bound.update(_bind(name, part))
    return bound
