"""Rows that stand in for unclear ones: one level is another, no rule is broken, everything stays covered."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from generator.clearing import Replacements
from generator.covering import cover
from generator.feasibility import Model, Row, Rule

MODEL = Model(
    {"a": (0, 1, 2), "b": (0, 1, 2, 3), "c": (0, 1), "d": (0, 1, 2)},
    (Rule("no", (0, 2), frozenset({(2, 1)})),),
)


def pairs(rows: list[Row]) -> set[tuple[tuple[int, int], ...]]:
    return {each for row in rows for each in combinations(enumerate(row), 2)}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10), min_size=60, max_size=60), st.integers(0, 100))
def test_what_stands_in_for_a_row_covers_what_it_covered(weights: list[int], chosen: int) -> None:
    rows = [*cover(MODEL, 2), *(row for row in cover(MODEL, 3) if row not in cover(MODEL, 2))]
    shares = {row: Fraction(weight, 10) for row, weight in zip(rows, weights, strict=False)}
    rows = list(shares)
    replacements = Replacements(MODEL, 2, shares)
    row = rows[chosen % len(rows)]
    for other in list(replacements.rows_for(row))[:1]:
        assert sum(old != new for old, new in zip(row, other, strict=True)) == 1
        assert (other[0], other[2]) != (2, 1)
        changed = [other if each == row else each for each in rows]
        assert pairs(changed) >= pairs(cover(MODEL, 2))
        replacements.replace(row, other)
        for further in replacements.rows_for(other):
            assert pairs([further if each == other else each for each in changed]) >= pairs(cover(MODEL, 2))


def test_the_level_that_the_unclear_rows_share_goes_first() -> None:
    rows = list(dict.fromkeys([*cover(MODEL, 3)]))
    shares = {row: Fraction(int(row[1] == 3), 2) for row in rows}
    row = next(each for each in rows if each[1] == 3)
    found = list(Replacements(MODEL, 2, shares).rows_for(row))
    assert found
    assert found[0][1] != 3
    assert found[0][0] == row[0]


def test_a_row_that_alone_covers_something_stays_what_it_is() -> None:
    model = Model({"a": (0, 1), "b": (0, 1)})
    shares: dict[Row, Fraction] = {
        (0, 0): Fraction(1),
        (0, 1): Fraction(0),
        (1, 0): Fraction(0),
        (1, 1): Fraction(0),
    }
    assert list(Replacements(model, 2, shares).rows_for((0, 0))) == []
