"""Covering arrays, checked by a counter that shares nothing with their maker."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, product

import pytest
from covertable import make
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.calls.rows.covering import ATTEMPTS, cover, with_fixed
from generator.calls.rows.feasibility import FREE, ExcludedLevels, FactorGroup, Model, Solver
from generator.calls.rows.level_tuples import covered_tuples, feasible_tuples
from opcert.vocabulary.errors import InternalError
from tests.growth import count_calls

Sizes = list[int]
CALLS_A_CELL = 150
"""Functions called for each cell of an array; it takes 73 to 91."""

OPERATOR_LIKE = [16, 9, 7, 6, 5, 5, 4, 4, 4, 3, 3, 2, 2, 2]


def model_of(sizes: Sizes, rules: tuple[ExcludedLevels, ...] = ()) -> Model:
    return Model({f"f{place}": tuple(range(size)) for place, size in enumerate(sizes)}, rules)


def allowed_rows(model: Model) -> list[tuple[int, ...]]:
    """Every row that no rule forbids, by brute force."""
    rows = product(*(range(size) for size in model.sizes))
    return [
        row
        for row in rows
        if not any(tuple(row[factor] for factor in rule.factors) in rule.forbidden for rule in model.rules)
    ]


def tuples_in(rows: list[tuple[int, ...]], strength: int) -> set[tuple[tuple[int, int], ...]]:
    return {combination for row in rows for combination in combinations(enumerate(row), strength)}


@st.composite
def models(draw: st.DrawFn) -> Model:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    rules = []
    for number in range(draw(st.integers(0, 4))):
        width = draw(st.integers(1, min(3, len(sizes))))
        factors = tuple(sorted(draw(st.permutations(range(len(sizes))))[:width]))
        combos = list(product(*(range(sizes[factor]) for factor in factors)))
        forbidden = draw(st.sets(st.sampled_from(combos), max_size=max(1, len(combos) // 2)))
        rules.append(ExcludedLevels(f"r{number}", factors, frozenset(forbidden)))
    return model_of(sizes, tuple(rules))


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(models(), st.integers(1, 3))
def test_rows_hold_every_feasible_tuple_and_break_no_rule(model: Model, strength: int) -> None:
    possible = allowed_rows(model)
    strength = min(strength, len(model.sizes))
    rows = cover(model, strength)
    assert set(rows) <= set(possible)
    assert tuples_in(rows, strength) == tuples_in(possible, strength)
    assert len(rows) <= max(len(tuples_in(possible, strength)), 0)
    assert cover(model, strength) == rows


@settings(max_examples=60, deadline=None)
@given(models(), st.data())
def test_mandatory_rows_come_first_and_keep_their_levels(model: Model, data: st.DataObject) -> None:
    possible = allowed_rows(model)
    if not possible:
        with pytest.raises(InternalError, match="mandatory"):
            cover(model, 2, [{"f0": 0}])
        return
    row = data.draw(st.sampled_from(possible))
    asked = {f"f{place}": level for place, level in enumerate(row) if data.draw(st.booleans())}
    rows = cover(model, 2, [asked])
    assert all(rows[0][int(name[1:])] == level for name, level in asked.items())
    strength = min(2, len(model.sizes))
    assert tuples_in(rows, strength) == tuples_in(possible, strength)


@settings(max_examples=80, deadline=None)
@given(models())
def test_the_solver_agrees_with_brute_force(model: Model) -> None:
    possible = allowed_rows(model)
    solver = Solver(model)
    for factor, size in enumerate(model.sizes):
        for value in range(size):
            partial = [FREE] * len(model.sizes)
            partial[factor] = value
            assert solver.extendable(partial) == any(row[factor] == value for row in possible)


def test_a_group_is_covered_with_its_own_strength_and_the_rest_with_less() -> None:
    rule = ExcludedLevels("r", (0, 2), frozenset({(0, 0), (1, 2)}))
    model = replace(
        model_of([4, 3, 3, 4, 2, 2], (rule,)), groups=(FactorGroup((0, 2, 3), 3), FactorGroup((4, 5), 2))
    )
    rows, possible = cover(model, 1), allowed_rows(model)
    for factors, values in tuples_by_factors(possible, [(0, 2, 3), (4, 5), (1,)]).items():
        assert values <= tuples_by_factors(rows, [factors])[factors]
    assert len(rows) < len(cover(replace(model, groups=()), 3))
    pairs = cover(model, 2)
    assert tuples_in(pairs, 2) == tuples_in(possible, 2)
    assert set(feasible_tuples(Solver(model), 2)) == {(0, 2, 3)} | {
        combination for combination in combinations(range(6), 2) if not set(combination) <= {0, 2, 3}
    }


def tuples_by_factors(
    rows: list[tuple[int, ...]], sets: list[tuple[int, ...]]
) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    return {each: {tuple(row[factor] for factor in each) for row in rows} for each in sets}


def test_a_factor_can_be_held_at_one_level() -> None:
    model = with_fixed(model_of([3, 3, 2], two_by_two()), {"f0": 1, "absent": 7})
    assert {row[0] for row in cover(model, 2)} == {1}
    assert {row[1:] for row in cover(model, 2)} == {(1, 0), (2, 0), (1, 1), (2, 1)}


def two_by_two() -> tuple[ExcludedLevels, ...]:
    return (ExcludedLevels("no zeros", (0, 1), frozenset({(1, 0)})),)


def test_many_factors_are_covered_without_many_rows() -> None:
    model = model_of([4] * 4 + [3] * 6 + [2] * 8)
    rows = cover(model, 2)
    assert len(rows) <= 24
    assert tuples_in(rows, 2) == {
        (first, second)
        for first, second in combinations(
            [(factor, level) for factor, size in enumerate(model.sizes) for level in range(size)], 2
        )
        if first[0] != second[0]
    }


def largest_product(model: Model, strength: int) -> int:
    return max(len(levels) for levels in feasible_tuples(Solver(model), strength).values())


def two_rules() -> tuple[ExcludedLevels, ...]:
    return (
        ExcludedLevels(
            "a", (0, 1), frozenset((left, right) for left in range(8, 16) for right in range(4, 9))
        ),
        ExcludedLevels("b", (4, 5, 6), frozenset(product((0, 1, 2), (0, 1), (1, 2)))),
    )


@pytest.mark.parametrize(
    "model",
    [
        model_of(OPERATOR_LIKE),
        model_of(OPERATOR_LIKE, two_rules()),
        model_of([6, 6, 3, 3, 2]),
        model_of([15, 3, 3, 2]),
    ],
)
def test_rows_stay_near_the_largest_product_of_two_level_counts(model: Model) -> None:
    assert len(cover(model, 2)) <= 1.25 * largest_product(model, 2)


@pytest.mark.parametrize(
    ("model", "arrays"),
    [
        (model_of(OPERATOR_LIKE), 1),
        (model_of(OPERATOR_LIKE, two_rules()), 1),
        (model_of([6, 6, 3, 3, 2]), 1),
        (model_of([2] * 20), ATTEMPTS),
        (model_of([2] * 40), ATTEMPTS),
    ],
)
def test_work_is_in_proportion_to_the_arrays_made(model: Model, arrays: int) -> None:
    """Every cell of them costs a bounded number of calls, however large the model."""
    cells = arrays * len(cover(model, 2)) * len(model.sizes)
    assert count_calls(lambda: cover(model, 2)) <= CALLS_A_CELL * cells


@pytest.mark.parametrize("sizes", [[3] * 4, [3] * 13, [5, 4, 4, 3, 3, 2], [2] * 20, [16, 9, 7, 6, 5, 4, 3]])
def test_rows_are_about_as_few_as_another_maker_needs(sizes: Sizes) -> None:
    random.seed(1)
    other = make(
        [[f"{place}={level}" for level in range(size)] for place, size in enumerate(sizes)], length=2
    )
    assert len(cover(model_of(sizes), 2)) <= 1.25 * len(other) + 2


def test_strength_three_covers_every_triple() -> None:
    model = model_of([5, 4, 3, 3, 2], (ExcludedLevels("r", (0, 2), frozenset({(0, 0), (1, 2)})),))
    rows = cover(model, 3)
    assert tuples_in(rows, 3) == tuples_in(allowed_rows(model), 3)
    assert covered_tuples(model, rows, 3) == feasible_tuples(Solver(model), 3)


def test_a_tuple_that_only_rules_together_forbid_is_not_feasible() -> None:
    rules = (
        ExcludedLevels("x", (0, 1), frozenset({(0, 0)})),
        ExcludedLevels("y", (1, 2), frozenset({(1, 0)})),
    )
    found = feasible_tuples(Solver(model_of([2, 2, 2], rules)), 2)
    assert (0, 0) not in found[(0, 2)]
    assert (0, 1) in found[(0, 2)]
