"""Integers in the order of numbers, by which elements are compared without any arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import bits_of


@dataclass(frozen=True, eq=False)
class SortKeys:
    """A key for each element, greater where the number is; zeros of either sign have one. NaN has none."""

    keys: NDArray[np.object_]
    nan: NDArray[np.bool_]


def sort_keys(given: Tensor, *, flushed: bool = False) -> SortKeys:
    """The keys of integers or floats; subnormal numbers are zero where they are flushed."""
    kind = given.element_type
    if kind.layout is None:
        return SortKeys(given.array.astype(object), np.zeros(given.shape, dtype=np.bool_))
    flat = np.ascontiguousarray(given.array).reshape(-1)
    bits = bits_of(flat).astype(object)
    sign = 1 << (kind.bits - 1)
    magnitude = bits % sign
    if flushed:
        magnitude = np.where(magnitude < (1 << (kind.layout.precision - 1)), 0, magnitude)
    infinity = ((1 << kind.layout.exponent_bits) - 1) << (kind.layout.precision - 1)
    keys = np.where(bits >= sign, -magnitude, magnitude).astype(object)
    nan = np.asarray(magnitude > infinity, dtype=np.bool_)
    return SortKeys(keys.reshape(given.shape), nan.reshape(given.shape))
