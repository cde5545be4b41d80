"""Rational numbers as float64: each rounded once, however they are computed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.element_types import BINARY32
from reference.numbers.exact_sums import quanta
from reference.numbers.numbers import is_representable
from reference.numbers.rationals import Rationals

INTEGERS = st.one_of(st.integers(-(2**70), 2**70), st.integers(-(2**1100), 2**1100), st.just(0))


def nearest(value: Fraction) -> float:
    """Python divides integers with one rounding; what is beyond float64 is infinite."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rationals(numerators: list[int], denominator: int) -> Rationals:
    array = np.empty(len(numerators), dtype=object)
    array[:] = numerators
    below = np.empty((), dtype=object)
    below[()] = denominator
    return Rationals(array, below)


@given(
    st.lists(INTEGERS, max_size=6), st.one_of(st.integers(0, 1200).map(lambda power: 2**power), st.just(3))
)
def test_each_is_rounded_once(numerators: list[int], denominator: int) -> None:
    found = rationals(numerators, denominator).floats()
    assert found.tolist() == [nearest(Fraction(numerator, denominator)) for numerator in numerators]


@given(st.lists(st.integers(-(2**40), 2**40), max_size=6), st.integers(0, 160))
def test_what_is_remembered_of_numbers_is_what_is_true(numerators: list[int], power: int) -> None:
    values = rationals(numerators * 2, 2**power)
    held = [is_representable(BINARY32, numerator, 2**power) for numerator in numerators * 2]
    assert values.representable(BINARY32).tolist() == held
    for numerator, quantum in zip(numerators * 2, quanta(values), strict=True):
        if numerator:
            times = Fraction(numerator, 2**power) / Fraction(quantum)
            assert times.denominator == 1
            assert times.numerator % 2


def test_a_number_of_rank_zero_is_one_too() -> None:
    below = np.empty((), dtype=object)
    below[()] = 4
    one = np.empty((), dtype=object)
    one[()] = 3
    assert float(Rationals(one, below).floats()) == 0.75
    assert float(Rationals(one * 1, below).floats()) == 0.75  # numpy makes a Python integer of it
