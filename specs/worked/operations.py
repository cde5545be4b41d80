"""Python's operators that example code is read with, and how large their results can be."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def extent(left: Any, right: Any) -> int:
    """How large the result of an operation can be: elements, letters, or digits."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return math.prod(np.broadcast_shapes(np.shape(left), np.shape(right)))
    if isinstance(left, list | str) and isinstance(right, list | str):
        return len(left) + len(right)
    return sum(each.bit_length() for each in (left, right) if isinstance(each, int)) ** 2
