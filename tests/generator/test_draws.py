"""Streams of numbers: many at once are those that come one by one, and what was drawn never changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.calls.data.draws import Draw


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**70), st.integers(0, 12), st.integers(0, 3))
def test_many_numbers_are_those_that_come_one_by_one(low: int, span: int, count: int, before: int) -> None:
    one, other = Draw("numbers"), Draw("numbers")
    for _ in range(before):
        assert one.integer(0, 9) == other.integer(0, 9)
    assert one.numbers(low, low + span, count) == [other.integer(low, low + span) for _ in range(count)]
    assert one.integer(0, 99) == other.integer(0, 99)


@given(st.lists(st.integers(), max_size=40))
def test_shuffling_takes_an_integer_for_each_place_from_the_last(items: list[int]) -> None:
    one, other = Draw("shuffled"), Draw("shuffled")
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        place = other.integer(0, last)
        order[last], order[place] = order[place], order[last]
    assert one.shuffled(items) == order
    assert one.integer(0, 99) == other.integer(0, 99)


def test_choices_are_those_of_one_after_the_other() -> None:
    one, other = Draw("choices"), Draw("choices")
    assert one.choices("abcde", 20) == [other.choice("abcde") for _ in range(20)]


def test_nothing_lies_between_ends_that_are_exchanged() -> None:
    with pytest.raises(ValueError, match="nothing between 3 and 2"):
        Draw("x").numbers(3, 2, 1)
    assert Draw("x").numbers(3, 2, 0) == []


def test_the_streams_are_the_same_for_ever() -> None:
    draw = Draw("for ever")
    assert [draw.integer(0, 999) for _ in range(4)] == [325, 700, 243, 127]
    assert draw.child("a").numbers(-5, 5, 6) == [1, -1, 5, 4, 1, 3]
    assert draw.shuffled("abcdef") == list("dbaefc")


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2**70)), max_size=3), st.integers(0, 6))
def test_rounds_are_of_numbers_one_by_one(ranges: list[tuple[int, int]], count: int) -> None:
    bounds = [(low, low + span) for low, span in ranges]
    one, other = Draw("rounds"), Draw("rounds")
    expected = [tuple(other.integer(low, high) for low, high in bounds) for _ in range(count)]
    assert list(one.rounds(count, *bounds)) == expected
    assert one.integer(0, 99) == other.integer(0, 99)
