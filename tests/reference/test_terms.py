"""Sums of products whose numbers are known to float64, and of others, against fractions one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.element_types import BINARY64, ELEMENT_TYPES
from reference.numbers.accumulations import WHOLE
from reference.numbers.number_arrays import Numbers
from reference.numbers.numbers import is_representable
from reference.numbers.rationals import Rationals
from reference.numbers.working import Working
from reference.sums.summation import Terms, terms_of_numbers, terms_of_products

WORKING = Working(ELEMENT_TYPES["float"])
INTEGERS = st.one_of(st.integers(-9, 9), st.integers(-(1 << 24), 1 << 24), st.integers(-(1 << 75), 1 << 75))
DENOMINATORS = st.one_of(st.integers(0, 1200).map(lambda power: 1 << power), st.just(3))


def as_numbers(values: list[list[int]], denominator: int) -> Numbers:
    numerator = np.array(values, dtype=object)
    return Numbers.exact(Rationals(numerator, np.array(denominator, dtype=object)), WORKING)


def nearest(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf


def expected_quantum(value: Fraction) -> float:
    """The greatest power of two that a number is a multiple of."""
    if value == 0:
        return math.inf
    if value.denominator & (value.denominator - 1):
        return 0.0
    low = value.numerator & -value.numerator
    return min(nearest(Fraction(low, value.denominator)), math.ldexp(1.0, 1023))


def check(terms: Terms, values: list[list[Fraction]]) -> None:
    assert terms.sizes.tolist() == [[nearest(abs(number)) for number in row] for row in values]
    assert terms.given.tolist() == [[number != 0 for number in row] for row in values]
    assert terms.quanta.tolist() == [[expected_quantum(number) for number in row] for row in values]
    assert terms.summed.fractions() == [sum(row, Fraction(0)) for row in values]


@given(st.data(), st.integers(0, 3), DENOMINATORS, DENOMINATORS)
def test_products_are_what_fractions_come_to(data: st.DataObject, count: int, one: int, other: int) -> None:
    rows = st.lists(INTEGERS, min_size=count, max_size=count)
    left = data.draw(st.lists(rows, min_size=2, max_size=2))
    right = data.draw(st.lists(rows, min_size=1, max_size=1))
    terms = terms_of_products(as_numbers(left, one), as_numbers(right, other), (2, count))
    if count:
        check(
            terms,
            [
                [Fraction(a, one) * Fraction(b, other) for a, b in zip(row, right[0], strict=True)]
                for row in left
            ],
        )
    else:
        assert terms.summed.fractions() == [0, 0]


@given(st.lists(INTEGERS, min_size=1, max_size=4), DENOMINATORS)
def test_numbers_are_terms_as_they_are(values: list[int], denominator: int) -> None:
    terms = terms_of_numbers(as_numbers([values], denominator), WHOLE)
    check(terms, [[Fraction(value, denominator) for value in values]])
    held = [[is_representable(BINARY64, value, denominator) for value in values]]
    assert terms.held_by(BINARY64).tolist() == held
