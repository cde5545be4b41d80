"""Patterns: elements in other places, and wrong ones in one place; random answers have no pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.judging.output_comparison import compare_output
from conformance.judging.patterns import find_pattern
from conformance.suite.cases import ExpectedOutput
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from tests.conformance.wrong_answers import (
    ALL,
    SHAPE,
    Array,
    Change,
    draw,
    pattern_of,
    spoil,
)

MOVES: list[tuple[Change, str]] = [
    (lambda array: array.swapaxes(2, 3), "the expected output with its axes in the order [0, 1, 3, 2]"),
    (lambda array: array.swapaxes(0, 1), "the expected output with its axes in the order [1, 0, 2, 3]"),
    (lambda array: array.reshape(12, 25), "the expected elements in another shape"),
    (lambda array: np.flip(array, 3), "the expected output reversed along axis 3"),
    (lambda array: np.roll(array, 1, 2), "the expected output shifted by one towards the end of axis 2"),
    (lambda array: np.roll(array, -1, 1), "the expected output shifted by one towards the start of axis 1"),
    (
        lambda array: np.take(array, [0, 0, 1, 2, 3], 3),
        "the expected output shifted by one towards the end of axis 3",
    ),
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("change", "phrase"), MOVES)
def test_elements_in_other_places_are_recognised(name: str, change: Change, phrase: str) -> None:
    expected = draw(ELEMENT_TYPES[name], 1)
    assert pattern_of(name, expected, np.ascontiguousarray(change(expected))) == phrase


@pytest.mark.parametrize("name", ALL)
def test_an_output_that_is_an_input_is_said_to_be(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    given, expected = draw(element_type, 1), draw(element_type, 2)
    inputs = (("A", Tensor(element_type, draw(element_type, 3))), ("B", Tensor(element_type, given)))
    assert pattern_of(name, expected, given, inputs=inputs) == "equals the input B"
    assert pattern_of(name, expected[:1], given, inputs=inputs) == "equals the input B"


@pytest.mark.parametrize("name", ALL)
def test_constant_outputs_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    zero = np.zeros_like(expected)
    if element_type.kind == "string":
        zero[...] = b""
    said = "all elements are empty" if element_type.kind == "string" else "all elements are zero"
    assert pattern_of(name, expected, zero) == said
    other = np.broadcast_to(expected[:1, :1, :1, :1], SHAPE)
    if element_type.kind != "bool":
        assert pattern_of(name, expected, other) == "all elements are the same"


PLACES: list[tuple[Any, str]] = [
    (np.s_[:, :, 0, :], "wrong only at the start of axis 2"),
    (np.s_[..., -1], "wrong only at the end of axis 3"),
    (np.s_[..., [0, -1]], "wrong only at the ends of axis 3"),
    (np.s_[:, 1:], "wrong only after the first channel (axis 1)"),
    (np.s_[1:], "wrong only after the first batch (axis 0)"),
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("place", "phrase"), PLACES)
def test_places_are_recognised(name: str, place: Any, phrase: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    where = np.zeros(SHAPE, dtype=np.bool_)
    where[place] = True
    assert pattern_of(name, expected, spoil(element_type, expected, where)) == phrase


@pytest.mark.parametrize("name", ALL)
def test_a_border_on_several_axes_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1, (6, 7))
    where = np.ones((6, 7), dtype=np.bool_)
    where[1:-1, 1:-1] = False
    assert pattern_of(name, expected, spoil(element_type, expected, where)) == "wrong only at the border"


def random_answers(element_type: ElementType, seed: int) -> tuple[Array, list[Array]]:
    """An expectation, and answers wrong in no particular way: other elements, another order, some spoiled."""
    source = np.random.default_rng(seed)
    rank = int(source.integers(0, 5))
    shape = tuple(int(integer) for integer in source.integers(1, 6, rank))
    expected = draw(element_type, 2 * seed, shape)
    shuffled = expected.reshape(-1).copy()
    source.shuffle(shuffled)
    some = np.asarray(source.random(shape) > source.random())
    one = np.zeros(shape, dtype=np.bool_)
    one.reshape(-1)[int(source.integers(0, one.size))] = True
    return expected, [
        draw(element_type, 2 * seed + 1, shape),
        shuffled.reshape(shape),
        spoil(element_type, expected, some),
        spoil(element_type, expected, one),
    ]


@pytest.mark.parametrize("name", ALL)
def test_answers_wrong_in_no_particular_way_have_no_pattern(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    tried, named = 0, []
    for seed in range(150):
        expected, answers = random_answers(element_type, seed)
        given = Tensor(element_type, draw(element_type, 1000 + seed, expected.shape))
        for got in answers:
            wanted = ExpectedOutput("Y", Tensor(element_type, expected))
            compared = compare_output(wanted, Tensor(element_type, got))
            if compared.difference == "value":
                tried += 1
                found = find_pattern(wanted, Tensor(element_type, got), compared.wrong, (("X", given),))
                if found is not None:
                    named.append((seed, expected.shape, found))
    assert tried > 300
    assert named == []
