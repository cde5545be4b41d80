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


def extent(left: Any, right: Any) -> int:
    """How large the result of an operation can be: elements, letters, or digits."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return math.prod(np.broadcast_shapes(np.shape(left), np.shape(right)))
    if isinstance(left, list | str) and isinstance(right, list | str):
        return len(left) + len(right)
    digits = sum(each.bit_length() for each in (left, right) if isinstance(each, int))
    return digits * digits
