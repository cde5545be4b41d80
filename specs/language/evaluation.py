"""What expressions of specs are evaluated with: operands, operators and functions, bounded in size."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from opcert.vocabulary.errors import UserError
from specs.language.functions import FUNCTIONS as LONGER_FUNCTIONS

MOST_ITEMS = 1_000_000
MOST_BITS = 4096
_LISTS = (list, tuple, str)


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


def bounded(number: Any) -> Any:
    if isinstance(number, int):
        if number.bit_length() > MOST_BITS:
            raise EvaluationError("number too large", expected=f"at most {MOST_BITS} bits")
    elif isinstance(number, _LISTS) and len(number) > MOST_ITEMS:
        raise EvaluationError("list too long", expected=f"at most {MOST_ITEMS} items")
    return number


def _multiply(left: Any, right: Any) -> Any:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, _LISTS) and len(sequence) * max(int(times), 0) > MOST_ITEMS:
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
    if type(value) is Operand:
        return list(value.shape)
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
    **LONGER_FUNCTIONS,
}
KEYWORDS = {"min": {"default"}, "max": {"default"}}
