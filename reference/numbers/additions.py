"""Sums of floats in an order of our own, so that every processor and library rounds them alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def along(axis: int, matrix: NDArray[Any], data: NDArray[Any]) -> NDArray[Any]:
    """The product of a matrix with every vector of `data` along an axis, added up from the first element on.

    Every step is one product and one sum of each element, so that the order of the roundings is ours and not
    that of a library's kernel: the bits are the same on every processor and under every number of threads.
    """
    others = [each for each in range(data.ndim) if each != axis]
    vectors = data.transpose(axis, *others)
    columns = matrix.T.reshape(matrix.shape[::-1] + (1,) * (data.ndim - 1))
    total = np.zeros((len(matrix), *vectors.shape[1:]), dtype=np.result_type(matrix, data))
    for column, element in zip(columns, vectors, strict=True):
        total = total + column * element
    return total.transpose(*range(1, axis + 1), 0, *range(axis + 1, data.ndim))


def total(terms: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The sum along an axis, kept with length 1, added up from the first element on."""
    slices = np.moveaxis(terms, axis, 0)
    result = np.zeros(slices.shape[1:])
    with np.errstate(over="ignore"):
        for each in slices:
            result = result + each
    return np.expand_dims(result, axis)
