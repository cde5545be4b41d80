"""What `simpler` means: an order of calls, by how much there is to read in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from generator.asking.calls import Call
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

_TYPES = ("float", "int64", "int32", "double", "uint8", "int8", "float16")
"""Element types from the most common one on; those not named come behind."""


def weight(call: Call) -> tuple[float, ...]:
    """Calls are simpler in this order.

    Fewer attributes and inputs; a more common element type; fewer axes; fewer elements; shorter lists;
    simpler numbers.
    """
    given = [each for _, each in call.inputs if each is not None]
    listed = [each.value for each in call.attributes.values() if isinstance(each.value, tuple)]
    return (
        len(call.attributes) + len(given),
        sum(type_rank(each.element_type) for each in given),
        sum(len(each.shape) for each in given),
        given[0].array.size if given else 0,
        sum(given[0].shape) if given else 0,
        sum(each.array.size for each in given[1:]) + sum(map(len, listed)),
        math.fsum(map(_cost, given)) + math.fsum(map(_attribute_cost, call.attributes.values())),
    )


def type_rank(kind: ElementType) -> int:
    return _TYPES.index(kind.name) if kind.name in _TYPES else len(_TYPES) + kind.code


def numbers_of(given: Tensor) -> NDArray[np.float64]:
    kind, flat = given.element_type, given.array.reshape(-1)
    if kind.kind == "string":
        return np.arange(flat.size, dtype=np.float64)
    if kind.kind == "complex":
        return np.asarray(flat.real, dtype=np.float64)
    return decode_floats(kind, flat) if kind.is_float else flat.astype(np.float64)


def elements_of(given: Tensor) -> Sequence[Any]:
    kind, flat = given.element_type, given.array.reshape(-1)
    found: list[Any] = (flat if kind.is_integer else decode_floats(kind, flat)).tolist()
    return found


def _cost(given: Tensor) -> float:
    kind = given.element_type
    if kind.kind == "string":
        return float(sum(map(len, given.array.reshape(-1).tolist())))
    if kind.kind == "complex":
        return math.fsum(number_cost(float(each)) for each in numbers_of(given))
    if kind.kind == "bool":
        return float(np.count_nonzero(given.array))
    return math.fsum(map(number_cost, elements_of(given)))


def _attribute_cost(given: Attribute) -> float:
    values: tuple[Any, ...] = given.value if isinstance(given.value, tuple) else (given.value,)
    return math.fsum(1 if isinstance(each, str) else number_cost(each) for each in values)


def number_cost(value: float) -> float:
    """How hard a number is to read: 0, 1, 2, ... in rising order, then fractions by their digits."""
    if not math.isfinite(value):
        return 60.0
    size = abs(value)
    if size == int(size) and size < 10:
        return size + (0.5 if value < 0 or math.copysign(1, value) < 0 else 0)
    return 10.0 + len(f"{size:.9g}") + (0.5 if value < 0 else 0)
