"""What may be anything stays so, whatever an infinity beside it would make of a number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from opcert.vocabulary.tensors import tensor
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import stacked
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
