"""Rows that stand in for unclear ones: one level is another, no rule is broken, everything stays covered."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.calls.rows.covering import cover
from generator.calls.rows.feasibility import ExcludedLevels, Model, Row
from generator.making.families.cover import Replacements

pytestmark = pytest.mark.slow

MODEL = Model(
    {"a": (0, 1, 2), "b": (0, 1, 2, 3), "c": (0, 1), "d": (0, 1, 2)},
    (ExcludedLevels("no", (0, 2), frozenset({(2, 1)})),),
)


def pairs(rows: list[Row]) -> set[tuple[tuple[int, int], ...]]:
    return {combination for row in rows for combination in combinations(enumerate(row), 2)}


@pytest.mark.nightly
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10), min_size=60, max_size=60), st.integers(0, 100))
def test_what_stands_in_for_a_row_covers_what_it_covered(weights: list[int], chosen: int) -> None:
    rows = [*cover(MODEL, 2), *(row for row in cover(MODEL, 3) if row not in cover(MODEL, 2))]
    shares = {row: Fraction(weight, 10) for row, weight in zip(rows, weights, strict=False)}
    rows = list(shares)
    replacements = Replacements(MODEL, 2, shares, rows)
    row = rows[chosen % len(rows)]
    for changes in list(replacements.changes_for(row))[:3]:
        assert row in changes
        changed = [changes.get(each, each) for each in rows]
        assert pairs(changed) >= pairs(cover(MODEL, 2))
        assert not [each for each in changed if (each[0], each[2]) == (2, 1)]
        assert sum(old != new for old, new in zip(row, changes[row], strict=True)) == 1
    for changes in list(replacements.changes_for(row))[:1]:
        replacements.replace(changes)
        assert list(replacements.changes_for(row)) == []


def test_the_level_that_the_unclear_rows_share_goes_first() -> None:
    rows = list(dict.fromkeys([*cover(MODEL, 3)]))
    shares = {row: Fraction(int(row[1] == 3), 2) for row in rows}
    row = next(each for each in rows if each[1] == 3)
    found = next(Replacements(MODEL, 2, shares, rows).changes_for(row))
    assert found[row][1] != 3
    assert found[row][0] == row[0]


def test_rows_exchange_a_level_where_one_alone_may_not_change() -> None:
    model = Model({"a": (0, 1), "b": (0, 1)})
    shares: dict[Row, Fraction] = {(0, 1): Fraction(1), (1, 0): Fraction(0)}
    wanted = [{(0, 1): (1, 1), (1, 0): (0, 0)}, {(0, 1): (0, 0), (1, 0): (1, 1)}]
    assert list(Replacements(model, 1, shares, shares).changes_for((0, 1))) == wanted
    assert list(Replacements(model, 1, shares, [(0, 1)]).changes_for((0, 1))) == []


def test_a_row_that_alone_covers_something_stays_what_it_is() -> None:
    model = Model({"a": (0, 1), "b": (0, 1)})
    shares: dict[Row, Fraction] = {
        (0, 0): Fraction(1),
        (0, 1): Fraction(0),
        (1, 0): Fraction(0),
        (1, 1): Fraction(0),
    }
    assert list(Replacements(model, 2, shares, shares).changes_for((0, 0))) == []
