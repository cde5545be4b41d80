"""The product of a matrix with a tensor along an axis: every rounding where plain Python has it."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.numbers.additions import along, total

SHAPES = [((7,), 0, 3), ((4, 9), 1, 5), ((4, 9), 0, 1), ((3, 17, 2), 1, 6), ((2, 1, 3), 1, 4), ((0, 3), 1, 2)]


def by_loops(axis: int, matrix: list[list[float]], data: NDArray[np.float64]) -> list[float]:
    """Element by element in Python's own floats, from the first tap to the last."""
    shape = (*data.shape[:axis], len(matrix), *data.shape[axis + 1 :])
    found = []
    for index in product(*map(range, shape)):
        total = 0.0
        for column, weight in enumerate(matrix[index[axis]]):
            total += weight * float(data[(*index[:axis], column, *index[axis + 1 :])])
        found.append(total)
    return found


@pytest.mark.parametrize(("shape", "axis", "rows"), SHAPES)
def test_adds_from_the_first_tap_to_the_last(shape: tuple[int, ...], axis: int, rows: int) -> None:
    draw = np.random.default_rng(rows)
    data = draw.standard_normal(shape) * 10.0 ** draw.integers(-8, 8, shape)
    matrix = draw.standard_normal((rows, shape[axis]))
    found = along(axis, matrix, data)
    assert found.shape == (*shape[:axis], rows, *shape[axis + 1 :])
    assert found.ravel().tolist() == by_loops(axis, matrix.tolist(), data)


def test_keeps_what_is_not_finite() -> None:
    data = np.array([[1.0, math.inf], [math.nan, 2.0]])
    with np.errstate(invalid="ignore"):
        found = along(1, np.array([[1.0, 1.0], [1.0, 0.0]]), data)
    np.testing.assert_array_equal(found, [[math.inf, math.nan], [math.nan, math.nan]])


def test_takes_integers_of_any_size_as_they_are() -> None:
    data = np.array([[3**50, -(2**70)], [1, 7]], dtype=object)
    matrix = np.array([[2**65, 5], [0, 1], [1, -1]], dtype=object)
    assert along(0, matrix, data).tolist() == [
        [2**65 * 3**50 + 5, -(2**135) + 35],
        [1, 7],
        [3**50 - 1, -(2**70) - 7],
    ]


@pytest.mark.parametrize(
    ("shape", "axis"), [((1, 9), 1), ((3, 40), 1), ((40, 3), 0), ((2, 0), 1), ((0, 2), 1)]
)
def test_a_total_is_added_up_from_the_first_term_on(shape: tuple[int, ...], axis: int) -> None:
    draw = np.random.default_rng(7)
    terms = draw.standard_normal(shape) * 10.0 ** draw.integers(-8, 8, shape)
    found = total(terms, axis)
    assert found.shape == tuple(1 if each == axis else extent for each, extent in enumerate(shape))
    expected = []
    rows = terms.size // max(shape[axis], 1) if terms.size else shape[1 - axis]
    for row in np.moveaxis(terms, axis, -1).reshape(rows, shape[axis]).tolist():
        added = 0.0
        for each in row:
            added += each
        expected.append(added)
    assert found.ravel().tolist() == expected
