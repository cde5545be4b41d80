"""Det against the sum over permutations, and in float32 by elimination and by expansion written out."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.test_number_arrays import accepted
from tests.reference.test_reductions import evaluate

DRAW = np.random.default_rng(22)


def by_permutations(matrix: NDArray[Any]) -> Fraction:
    """The sum of the signed products of an element from each row."""
    order, found = len(matrix), Fraction(0)
    for places in itertools.permutations(range(order)):
        turns = sum(places[left] > places[right] for left, right in itertools.combinations(range(order), 2))
        term = Fraction(-1 if turns % 2 else 1)
        for row, column in enumerate(places):
            term *= Fraction(float(matrix[row, column]))
        found += term
    return found


def by_elimination(matrix: NDArray[Any]) -> Any:
    """In float32, rows taken away from each other; the greatest element of a column is the pivot."""
    rows, found = matrix.astype(np.float32).copy(), np.float32(1)
    for column in range(len(rows)):
        pivot = column + int(np.abs(rows[column:, column]).argmax())
        if rows[pivot, column] == 0:
            return np.float32(0)
        if pivot != column:
            rows[[column, pivot]], found = rows[[pivot, column]], -found
        found = np.float32(found * rows[column, column])
        for below in range(column + 1, len(rows)):
            factor = np.float32(rows[below, column] / rows[column, column])
            rows[below] = rows[below] - factor * rows[column]
    return found


def by_expansion(matrix: NDArray[Any]) -> Any:
    """In float32, by the elements of the first row and the determinants of what is left."""
    if not len(matrix):
        return np.float32(1)
    found = np.float32(0)
    for column in range(len(matrix)):
        left = np.delete(matrix[1:], column, axis=1)
        found = np.float32(found + np.float32((-1) ** column) * matrix[0, column] * by_expansion(left))
    return found


@pytest.mark.parametrize("kind", ["normal", "equal rows", "small", "mixed"])
def test_the_value_is_exact_and_honest_ways_are_within_the_bound(kind: str) -> None:
    for _ in range(150):
        order, count = int(DRAW.integers(1, 5)), int(DRAW.integers(1, 4))
        given = DRAW.normal(size=(count, order, order)).astype(np.float32)
        if kind == "equal rows" and order > 1:
            given[:, 1] = given[:, 0]
        if kind == "small":
            given = np.asarray(given * np.float32(1e-9), np.float32)
        if kind == "mixed":
            given = np.asarray(given * 10.0 ** DRAW.integers(-4, 5, size=given.shape), np.float32)
        answer = evaluate("Det-22", {"X": given})
        exact = [by_permutations(each) for each in given]
        assert answer.expected.array.tolist() == [float(np.float32(float(each))) for each in exact]
        for way in (by_elimination, by_expansion):
            assert accepted(answer, np.array([way(each) for each in given])).all()


def test_a_wrong_sign_a_product_of_the_diagonal_and_a_cut_matrix_are_noticed() -> None:
    for _ in range(100):
        order = int(DRAW.integers(2, 5))
        given = DRAW.uniform(1, 2, (1, order, order)).astype(np.float32) + 3 * np.eye(order, dtype=np.float32)
        answer = evaluate("Det-22", {"X": given})
        assert not accepted(answer, -answer.expected.array).any()
        assert not accepted(answer, np.array([np.diagonal(given[0]).prod()])).any()
        assert not accepted(answer, np.array([by_elimination(given[0, 1:, 1:])])).any()


def test_batches_keep_their_axes_and_one_element_is_itself() -> None:
    given = DRAW.normal(size=(2, 3, 1, 1)).astype(np.float32)
    answer = evaluate("Det-11", {"X": given})
    assert answer.expected.array.tolist() == given[..., 0, 0].tolist()
    assert evaluate("Det-11", {"X": np.eye(3, dtype=np.float32)}).expected.shape == ()
    assert evaluate("Det-11", {"X": np.zeros((2, 0, 0), np.float32)}).expected.array.tolist() == [1, 1]
    assert evaluate("Det-11", {"X": np.zeros((0, 2, 2), np.float32)}).expected.shape == (0,)


def test_beside_what_is_no_number_anything_may_come_out() -> None:
    given = np.array([[[np.nan, 1], [2, 3]], [[1, 2], [3, 4]]], np.float32)
    answer = evaluate("Det-22", {"X": given})
    assert answer.allowed is not None
    assert answer.allowed[0] == np.inf
    assert answer.allowed[1] < 1e-3


def test_small_integers_are_nearly_exact() -> None:
    """Of 998 programs err by 6e-5; elements that grow as the worst matrix's would allow 32.7."""
    given = np.array([[3, -3, 10, -2], [4, 6, 1, 5], [9, -1, 7, 0], [8, -4, 2, -5]], np.float32)[None]
    answer = evaluate("Det-22", {"X": given})
    assert answer.allowed is not None
    assert answer.expected.array.tolist() == [998]
    assert answer.allowed[0] < 0.2
    for _ in range(100):
        order = int(DRAW.integers(2, 6))
        whole = DRAW.integers(-9, 10, (1, order, order)).astype(np.float32)
        answer = evaluate("Det-22", {"X": whole})
        exact = by_permutations(whole[0])
        for way in (by_elimination, by_expansion):
            for turned in (whole[0], whole[0].T):
                assert accepted(answer, np.array([way(turned)])).all()
        assert answer.allowed is not None
        if abs(exact) > 100:
            assert answer.allowed[0] < abs(float(exact)) / 100


@pytest.mark.parametrize("greatest", [1e308, 1e160, 1e80])
def test_what_is_beyond_all_doubles_on_the_way_costs_no_answer(greatest: float) -> None:
    matrix = np.diag([greatest, greatest, 1 / greatest, 0.5])
    matrix[0, 3] = matrix[3, 1] = greatest
    answer = evaluate("Det-22", {"X": matrix[None]})
    with np.errstate(over="ignore", invalid="ignore"):
        assert accepted(answer, np.array([np.linalg.det(matrix)])).all()
