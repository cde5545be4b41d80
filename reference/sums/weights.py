"""Weights of tensor elements along axes, as a program holds them, and what they leave of the elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask


@dataclass(frozen=True, eq=False)
class Steps:
    """A way to interpolate linearly along an axis: `x[low] + share * (x[high] - x[low])` in each row.

    `share` is the greatest that a route may have, 0 in rows in which no route has these two elements.
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    share: Floats


@dataclass(frozen=True, eq=False)
class AxisWeights:
    """The weights along one axis: a matrix of shape (output length, input length).

    `value` is exact, with one denominator a row at most. A program holds `value + shared * e + f` as in an
    Estimate, with one `e` for each row. `size` is the sum of the magnitudes of the taps that fall on an
    input element (replicated borders), `terms` the number of taps in each row, `quantum` the power of two
    (at most 1) that all of a row's taps are multiples of, 0 where there is none or a tap has an error.
    `touched` are the input elements that some route multiplies with a weight, be it 0; `sign` is that of a
    weight that no route takes for 0, else 0; `mixed` where taps of both signs fall on one element, or a route
    adds it to a multiple of its own negative. `steps` are the pairs of elements of which routes take the
    difference.
    """

    value: Rationals
    size: Floats
    shared: Floats
    fresh: Floats
    terms: NDArray[np.int64]
    quantum: Floats
    touched: Mask
    sign: NDArray[np.int8]
    mixed: Mask
    steps: tuple[Steps, ...] = ()

    @cached_property
    def floats(self) -> Floats:
        return self.value.floats()

    @cached_property
    def copies(self) -> Mask:
        """The rows of one tap, which takes an element with weight 1 and without any error."""
        return np.asarray((self.quantum > 0) & (self.terms == 1) & (self.floats == 1).any(axis=1))

    @cached_property
    def border_copies(self) -> Mask:
        """The rows of `copies` that take the first or last element: a route may halve it and add it twice."""
        ends = self.floats[:, [0, -1]] == 1
        return np.asarray(self.copies & ends.any(axis=1))

    @cached_property
    def is_identity(self) -> bool:
        """Whether every route takes each element as it is."""
        rows, columns = self.floats.shape
        return rows == columns and bool(self.copies.all() and (np.diagonal(self.floats) == 1).all())


def outer(
    shape: tuple[int, ...],
    rows: Sequence[tuple[int, NDArray[Any]]],
    join: Callable[..., NDArray[Any]],
    start: Any,
) -> NDArray[Any]:
    """For each output element, its rows' numbers joined over the axes; `rows` are (axis, vector)."""
    joined = np.asarray(start)
    for axis, vector in rows:
        joined = join(joined, vector.reshape([-1 if each == axis else 1 for each in range(len(shape))]))
    return np.broadcast_to(joined, shape)


def differences(weights: AxisWeights, axis: int, data: Floats) -> Floats:
    """For each position along an axis the greatest difference that its steps take, times 1."""
    shape = [weights.touched.shape[0] if each == axis else extent for each, extent in enumerate(data.shape)]
    greatest = np.zeros(shape)
    for each in weights.steps:
        apart = np.abs(np.take(data, each.high, axis) - np.take(data, each.low, axis))
        greatest = np.maximum(greatest, apart)
    return greatest
