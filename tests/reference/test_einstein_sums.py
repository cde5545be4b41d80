"""Einsum against numpy.einsum in float64 and integers, and in float32 by pairwise contractions of its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.test_number_arrays import accepted
from tests.reference.test_reductions import evaluate

DRAW = np.random.default_rng(29)
LETTERS = "abcXYZ"


def drawn() -> tuple[str, list[tuple[int, ...]]]:
    """An equation and the shapes of its operands: letters twice, ellipses, with an output or without."""
    extents = dict(zip(LETTERS, DRAW.integers(1, 4, size=len(LETTERS)).tolist(), strict=True))
    batch = tuple(DRAW.integers(1, 4, size=int(DRAW.integers(0, 3))).tolist())
    terms, shapes, dotted = [], [], False
    for _ in range(int(DRAW.integers(1, 4))):
        letters = [str(each) for each in DRAW.choice(list(LETTERS), size=int(DRAW.integers(0, 4)))]
        place = int(DRAW.integers(0, len(letters) + 1))
        dots = DRAW.random() < 0.3
        broadcast = tuple(each if DRAW.random() < 0.7 else 1 for each in batch)
        shape = [extents[letter] for letter in letters]
        terms.append("".join([*letters[:place], "..." * dots, *letters[place:]]))
        shapes.append((*shape[:place], *(broadcast if dots else ()), *shape[place:]))
        dotted |= dots
    equation = (", " if DRAW.random() < 0.2 else ",").join(terms)
    if DRAW.random() < 0.7:
        known = sorted({each for each in equation if each.isalpha()})
        output = DRAW.permutation(known)[: int(DRAW.integers(0, len(known) + 1))].tolist()
        place = int(DRAW.integers(0, len(output) + 1))
        equation += "->" + "".join([*output[:place], "..." * dotted, *output[place:]])
    return equation, shapes


def by_loops(equation: str, operands: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Every product of elements, added one after the other in the type of the operands."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    named: list[list[str]] = []
    for term, operand in zip(left.split(","), operands, strict=True):
        before, _, behind = term.partition("...")
        inside = operand.ndim - len(before) - len(behind)
        named.append([*before, *(f".{each}" for each in range(inside, 0, -1)), *behind])
    extents: dict[str, int] = {}
    for names, operand in zip(named, operands, strict=True):
        for name, extent in zip(names, operand.shape, strict=True):
            extents[name] = max(extents.get(name, 1), extent)
    dots = sorted((extent for extent in extents if extent[0] == "."), reverse=True)
    every = "".join(name for names in named for name in names if name[0] != ".")
    once = sorted(each for each in set(every) if every.count(each) == 1)
    before, some, behind = right.partition("...")
    output = [*before, *(dots if some else ()), *behind] if arrow else [*dots, *once]
    found = np.zeros([extents[value_info] for value_info in output], operands[0].dtype)
    for place in itertools.product(*(range(extent) for extent in extents.values())):
        at: Mapping[str, int] = dict(zip(extents, place, strict=True))
        term = found.dtype.type(1)
        for names, operand in zip(named, operands, strict=True):
            pairs = zip(names, operand.shape, strict=True)
            term = found.dtype.type(
                term * operand[tuple(min(at[name], extent - 1) for name, extent in pairs)]
            )
        found[tuple(at[value_info] for value_info in output)] += term
    return found


def test_random_equations_agree_with_numpy_and_leave_room_for_float32() -> None:
    for _ in range(500):
        equation, shapes = drawn()
        given = tuple(np.asarray(DRAW.normal(size=shape), np.float32) for shape in shapes)
        answer = evaluate("Einsum-12", {"Inputs": given}, equation=equation)
        exact = np.einsum(equation, *(array.astype(np.float64) for array in given))
        assert answer.expected.shape == exact.shape, equation
        np.testing.assert_allclose(answer.expected.array, exact, rtol=1e-5, atol=1e-5, err_msg=equation)
        assert np.all(accepted(answer, by_loops(equation, given))), equation
        assert np.all(accepted(answer, np.einsum(equation, *given, optimize="optimal"))), equation


def test_integers_wrap_around() -> None:
    for _ in range(100):
        equation, shapes = drawn()
        given = tuple(np.asarray(DRAW.integers(-128, 128, size=shape), np.int8) for shape in shapes)
        exact = np.asarray(by_loops(equation, [array.astype(np.int64) for array in given]))
        answer = evaluate("Einsum-12", {"Inputs": given}, {"integer_overflow": "wrap"}, equation=equation)
        assert answer.expected.array.tolist() == ((exact + 128) % 256 - 128).tolist(), equation


@pytest.mark.parametrize(
    ("equation", "shapes", "wrong"),
    [
        ("ij,jk->ik", [(3, 4), (4, 3)], "ij,jk->ki"),
        ("ij->i", [(3, 3)], "ij->j"),
        ("ii->i", [(3, 3)], "ij->i"),
        ("ba", [(3, 3)], "ba->ba"),
        ("aB", [(3, 3)], "aB->aB"),
        ("...i,...i->...", [(3, 3), (3, 3)], "...i,...j->..."),
    ],
)
def test_a_misread_equation_is_noticed(equation: str, shapes: list[tuple[int, ...]], wrong: str) -> None:
    for _ in range(20):
        given = tuple(np.asarray(DRAW.uniform(1.25, 3, size=shape), np.float32) for shape in shapes)
        answer = evaluate("Einsum-12", {"Inputs": given}, equation=equation)
        assert not accepted(answer, np.einsum(wrong, *given)).all()


def test_three_factors_may_be_multiplied_in_any_order() -> None:
    one = np.float32(1)
    given = tuple(np.asarray([number], np.float32) for number in (1e-30, 1e30, 1e30))
    answer = evaluate("Einsum-12", {"Inputs": given}, equation="i,i,i->i")
    assert accepted(answer, np.asarray([(given[0] * given[1] * given[2])[0]])).all()
    with np.errstate(over="ignore"):
        assert accepted(answer, np.asarray([math.inf * one])).all()
    assert not accepted(
        evaluate(
            "Einsum-12",
            {"Inputs": tuple(np.asarray([each], np.float32) for each in (2, 3, 4))},
            equation="i,i,i->i",
        ),
        np.asarray([25.0]),
    ).any()
