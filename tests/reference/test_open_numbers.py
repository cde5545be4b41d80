"""What may be anything stays so, whatever an infinity beside it would make of a number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import stacked
from reference.numbers.working import Working
from reference.readings.choices import Choice
from reference.sums.products import product
from reference.sums.summation import total, total_of_products
from tests.reference.test_number_arrays import working

Operation = Callable[[Numbers, Numbers], Numbers]


def in_a_row(left: Numbers, right: Numbers) -> Numbers:
    return stacked([left, right])


OPERATIONS: dict[str, Operation] = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: b / a,
    "total": lambda a, b: total(in_a_row(a, b), -1),
    "product of all": lambda a, b: product(in_a_row(a, b), -1),
    "total of products": lambda a, b: total_of_products(in_a_row(a, a), in_a_row(b, b), -1),
}
LEFT = [2.0, -3.0, 0.0, 1.0]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
def test_anything_may_come_of_an_open_number_and_an_infinity(name: str, infinity: float) -> None:
    shared = working("float")
    known, infinite = (
        Numbers.of(tensor(np.array(each, np.float32), "float"), shared) for each in (LEFT, [infinity] * 4)
    )
    some = np.array([True, True, True, False])
    answer = answer_of(OPERATIONS[name](opened(known, some), infinite), Choice("wrap"))
    assert answer.allowed is not None
    assert np.isinf(answer.allowed).tolist() == some.tolist()
    with np.errstate(invalid="ignore", divide="ignore"):
        assert abs(answer.expected.array[3]) == math.inf


@pytest.mark.parametrize("name", OPERATIONS)
def test_nan_stays_nan(name: str) -> None:
    shared = working("float")
    known, nan = (
        Numbers.of(tensor(np.array(each, np.float32), "float"), shared) for each in (LEFT, [math.nan] * 4)
    )
    answer = answer_of(OPERATIONS[name](opened(known, np.ones(4, np.bool_)), nan), Choice("wrap"))
    assert np.isnan(answer.expected.array).all()


@pytest.mark.parametrize("name", ["product", "total of products"])
@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
def test_what_underflows_may_make_nan_of_an_infinity(name: str, infinity: float) -> None:
    shared = working("float")
    tiny = Numbers.of(tensor(np.array([1e-30, -1e-30, 1e-3], np.float32), "float"), shared)
    infinite = Numbers.of(tensor(np.array([infinity] * 3, np.float32), "float"), shared)
    answer = answer_of(OPERATIONS[name](tiny * abs(tiny), infinite), Choice("wrap"))
    assert answer.expected.array.tolist() == [infinity, -infinity, infinity]
    assert answer.allowed is not None
    assert not answer.allowed.any()
    assert _not_numbers(answer) == {0, 1}


def test_what_underflows_may_make_nan_over_zero() -> None:
    shared = working("float")
    tiny = Numbers.of(tensor(np.array([1e-30, 1e-3], np.float32), "float"), shared)
    answer = answer_of((tiny * tiny) / Numbers.exact([0, 0], shared), Choice("wrap"))
    assert answer.expected.array.tolist() == [math.inf, math.inf]
    assert _not_numbers(answer) == {0}


def test_sums_that_overflow_may_make_nan_of_the_other_infinity() -> None:
    shared = working("float")
    rows = np.array([[math.inf, -3e38, -3e38], [math.inf, -1e30, -1e30]], np.float32)
    answer = answer_of(total(Numbers.of(tensor(rows, "float"), shared), -1), Choice("wrap"))
    assert answer.expected.array.tolist() == [math.inf, math.inf]
    assert _not_numbers(answer) == {0}


def of_either_sign(shared: Working) -> Numbers:
    first, second = (
        Numbers.of(tensor(np.array(each, np.float32), "float"), shared) for each in ([1, 1], [2e-8, 0.5])
    )
    return (first + second) - first


@pytest.mark.parametrize("name", ["product", "quotient"])
def test_infinities_of_either_sign_beside_what_may_have_either(name: str) -> None:
    shared = working("float")
    infinite = Numbers.of(tensor(np.array([math.inf] * 2, np.float32), "float"), shared)
    found = OPERATIONS[name](of_either_sign(shared), infinite)
    answer = answer_of(found, Choice("wrap"))
    assert answer.expected.array.tolist() == [math.inf, math.inf]
    assert answer.allowed is not None
    assert not answer.allowed.any()
    got = (answer.alternatives or {})[0]
    assert {float(each) for each in got if not np.isnan(each)} == {-math.inf}
    assert any(np.isnan(got)) == (name == "product")
    more = answer_of(found + 1, Choice("wrap")).allowed
    assert more is not None
    assert np.isinf(more).tolist() == [True, False]


def test_nothing_is_sure_of_a_sum_with_an_infinity_of_either_sign() -> None:
    shared = working("float")
    infinite = Numbers.of(tensor(np.array([math.inf] * 2, np.float32), "float"), shared)
    allowed = answer_of(
        total_of_products(in_a_row(of_either_sign(shared), infinite), in_a_row(infinite, infinite), -1),
        Choice("wrap"),
    ).allowed
    assert allowed is not None
    assert np.isinf(allowed).tolist() == [True, False]


def _not_numbers(answer: Answer) -> set[int]:
    """The elements that may be NaN as well, and nothing else beside what is expected."""
    found = answer.alternatives or {}
    assert all(np.isnan(each).all() for each in found.values())
    return set(found)
