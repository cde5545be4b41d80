"""How strange a coincidence is, held against exact counts; whole numbers and no logarithms decide."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.patterns.wrong_output import choices, is_strange_order, is_strange_place, orders_of
from opcert.vocabulary.element_types import ELEMENT_TYPES


@given(st.integers(1, 300), st.integers(0, 300), st.integers(0, 300), st.integers(1, 20))
def test_places_are_strange_where_chance_gives_them_seldom(
    among: int, chosen: int, wrong: int, bits: int
) -> None:
    found = is_strange_place(among, chosen, wrong, bits)
    if wrong > chosen or chosen >= among:
        assert not found
        return
    odds = Fraction(comb(among, wrong), comb(chosen, wrong))
    if abs(odds / (1 << bits) - 1) > Fraction(1, 10**9):
        assert found == (odds >= 1 << bits)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(1, 1 << 30))
def test_choices_are_counted_until_there_are_enough(among: int, chosen: int, enough: int) -> None:
    chosen = min(among, chosen)
    exact, found = comb(among, chosen), choices(among, chosen, enough)
    assert (found >= enough) == (exact >= enough)
    assert found <= exact
    if exact < enough:
        assert found == exact


@given(st.lists(st.integers(1, 12), max_size=8), st.integers(1, 1 << 30))
def test_orders_are_counted_until_there_are_enough(counts: list[int], enough: int) -> None:
    exact = factorial(sum(counts)) // prod(map(factorial, counts))
    found = orders_of(counts, enough)
    assert (found >= enough) == (exact >= enough)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_an_order_is_strange_where_few_of_all_orders_fit(values: list[int], data: st.DataObject) -> None:
    size = len(values)
    wrong = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    bits = data.draw(st.integers(1, 16))
    places = [each for each in range(size) if wrong[each]]
    everything, some = Counter(values), Counter(values[place] for place in places)
    orders = factorial(size) // prod(map(factorial, everything.values()))
    wrong_orders = factorial(len(places)) // prod(map(factorial, some.values()))
    exact = min(orders, comb(size, len(places)) * wrong_orders)
    array = np.array(values, dtype=np.float32)
    found = is_strange_order(ELEMENT_TYPES["float"], array, None, np.array(wrong, dtype=bool), bits)
    assert found == (exact >= 1 << bits)
