"""The last binary digit of a number, against fractions in lowest terms."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from reference.numbers.rationals import NO_DIGIT, Rationals, _last_digit


@given(st.integers(-(2**70), 2**70), st.integers(1, 2**70))
@example(6, 12)
@example(-(3 << 90), 9 << 4)
@example(5, 15)
@example(0, 7)
def test_it_is_the_power_of_two_that_the_number_is_an_odd_multiple_of(top: int, bottom: int) -> None:
    found, number = _last_digit(top, bottom), Fraction(top, bottom)
    if not number:
        assert found == math.inf
    elif found == NO_DIGIT:
        assert number.denominator & (number.denominator - 1)
    else:
        rest = number / Fraction(2) ** int(found)
        assert rest.denominator == 1
        assert rest.numerator % 2


@given(st.lists(st.integers(-(2**66), 2**66), min_size=1, max_size=6), st.integers(0, 80), st.integers(1, 9))
@example([0, 6, -(2**61), 2**62], 3, 1)
def test_of_many_it_is_that_of_each(whole: list[int], power: int, odd: int) -> None:
    """Whether their integers have 64 bits or more, over a power of two or any other number."""
    numbers = [Fraction(each, odd << power) for each in whole]
    found = Rationals.of(numbers).last_digits().tolist()
    assert found == [_last_digit(number.numerator, number.denominator) for number in numbers]
