"""Some of the faults that `benchmarks.planted_causes` plants: alone, in a pair, in a triple."""

from __future__ import annotations

import pytest

from benchmarks.planted_causes import FAULTS, Plant, score


@pytest.mark.parametrize("numbers", [(0,), (6,), (0, 1), (6, 7), (6, 7, 8)])
def test_faults_are_named_by_experiment_and_none_wrongly(numbers: tuple[int, ...]) -> None:
    found = score(Plant(tuple(FAULTS[each] for each in numbers)))
    assert found.wrong == ()
    assert set(found.named) == set(found.shown)
    assert len(found.shown) == len(numbers)
