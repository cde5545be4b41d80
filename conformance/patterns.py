"""What a wrong output looks like, where it looks like something simple."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.comparison import Mask, same_elements
from conformance.values import decode_floats
from opcert.element_types import ElementType
from opcert.tensors import Tensor

_MOST_ELEMENTS = 1 << 16
_MOST_AXES = 5


def find_pattern(
    expected: Tensor, got: Tensor, wrong: Mask | None, inputs: Sequence[tuple[str, Tensor]]
) -> str | None:
    """One phrase on how `got` relates to `expected` or to the inputs, or None; `wrong` marks the wrong."""
    if (
        got.element_type is not expected.element_type
        or got.array.size > _MOST_ELEMENTS
        or got.array.size == 0
    ):
        return None
    for name, tensor in inputs:
        if tensor == got:
            return f"equals the input {name}"
    element_type = expected.element_type
    if got.array.ndim <= _MOST_AXES and got.array.size > 1:
        moved = _moved_axes(element_type, expected.array, got.array)
        if moved is not None:
            return moved
    if got.shape != expected.shape or wrong is None:
        return None
    return (
        _all_alike(element_type, got.array)
        or _reversed_or_shifted(element_type, expected.array, got.array)
        or _constant_offset(element_type, expected.array, got.array, wrong)
        or _only_at_border(wrong)
    )


def _same(element_type: ElementType, first: NDArray[Any], second: NDArray[Any]) -> bool:
    if first.shape != second.shape:
        return False
    left, right = np.ascontiguousarray(first), np.ascontiguousarray(second)
    return bool(same_elements(element_type, left, right).all())


def _moved_axes(element_type: ElementType, expected: NDArray[Any], got: NDArray[Any]) -> str | None:
    if expected.ndim != got.ndim or sorted(expected.shape) != sorted(got.shape):
        return None
    for order in permutations(range(expected.ndim)):
        if order != tuple(range(expected.ndim)) and _same(element_type, expected.transpose(order), got):
            return f"the expected output with its axes in the order {list(order)}"
    if expected.shape != got.shape and _same(element_type, expected.reshape(-1), got.reshape(-1)):
        return "the expected elements in another shape"
    return None


def _all_alike(element_type: ElementType, got: NDArray[Any]) -> str | None:
    if got.size < 2:
        return None
    first = np.broadcast_to(got.reshape(-1)[:1].reshape((1,) * got.ndim), got.shape)
    if not _same(element_type, got, first):
        return None
    if _same(element_type, got, np.zeros_like(got)):
        return "all elements are zero"
    return "all elements are the same"


def _reversed_or_shifted(element_type: ElementType, expected: NDArray[Any], got: NDArray[Any]) -> str | None:
    for axis in range(expected.ndim):
        extent = expected.shape[axis]
        if extent < 2:
            continue
        if _same(element_type, np.flip(expected, axis), got):
            return f"the expected output reversed along axis {axis}"
        if extent < 3:
            continue
        tail = np.take(expected, range(1, extent), axis)
        head = np.take(expected, range(extent - 1), axis)
        if _same(element_type, tail, np.take(got, range(extent - 1), axis)):
            return f"the expected output shifted by one towards the start of axis {axis}"
        if _same(element_type, head, np.take(got, range(1, extent), axis)):
            return f"the expected output shifted by one towards the end of axis {axis}"
    return None


def _constant_offset(
    element_type: ElementType, expected: NDArray[Any], got: NDArray[Any], wrong: Mask
) -> str | None:
    if got.size < 2 or not bool(wrong.all()):
        return None
    if element_type.is_integer:
        difference = {int(left) - int(right) for left, right in zip(got.flat, expected.flat, strict=True)}
        return f"every element is off by {difference.pop()}" if len(difference) == 1 else None
    if not element_type.is_float:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        apart = decode_floats(element_type, got) - decode_floats(element_type, expected)
    if np.isfinite(apart).all() and apart.min() == apart.max():
        return f"every element is off by {float(apart.min())!r}"
    return None


def _only_at_border(wrong: Mask) -> str | None:
    if all(extent <= 2 for extent in wrong.shape):
        return None
    inner = tuple(slice(1, -1) if extent > 2 else slice(None) for extent in wrong.shape)
    return None if wrong[inner].any() else "wrong only at the border"
