"""Some of the faults that `benchmarks.planted_causes` plants: alone, in a pair, in a triple."""

from __future__ import annotations

import pytest

from benchmarks.planted_causes import FAULTS, HELD_OUT, Fault, Plant, score

FACTORS_BY_CHANCE = [FAULTS[20], HELD_OUT[11]]
"""Their cases are right by chance, too, where all that is expected comes to one element."""
HIDDEN_TYPES = FAULTS[11:13]
"""Both hang on the type of one input and look otherwise: no case of one is of the other."""


@pytest.mark.parametrize("faults", [*((each,) for each in FACTORS_BY_CHANCE), HIDDEN_TYPES])
def test_no_cause_is_named_by_what_is_right_by_chance_or_by_cases_of_another(
    faults: tuple[Fault, ...],
) -> None:
    assert score(Plant(tuple(faults))).wrong == ()


@pytest.mark.parametrize("numbers", [(0,), (6,), (0, 1), (6, 7), (6, 7, 8)])
def test_faults_are_named_by_experiment_and_none_wrongly(numbers: tuple[int, ...]) -> None:
    found = score(Plant(tuple(FAULTS[each] for each in numbers)))
    assert found.wrong == ()
    assert set(found.named) == set(found.shown)
    assert len(found.shown) == len(numbers)
