"""Some of the faults that `tools.planted_causes` plants: alone, in a pair, in a triple."""

from __future__ import annotations

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor
from tools.planted_causes import (
    CROP,
    CUMSUM,
    FAULTS,
    HELD_OUT,
    PATCHES,
    Fault,
    Plant,
    cases_of,
    clipped,
    off_by_one,
    score,
    space_of,
    turned_round,
)

FACTORS_BY_CHANCE = [FAULTS[20], HELD_OUT[11]]
"""Their cases are right by chance, too, where all that is expected comes to one element."""
HIDDEN_TYPES = FAULTS[11:13]
"""Both hang on the type of one input and look otherwise: no case of one is of the other."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "faults",
    [pytest.param((FACTORS_BY_CHANCE[0],), marks=pytest.mark.nightly), (FACTORS_BY_CHANCE[1],), HIDDEN_TYPES],
)
def test_no_cause_is_named_by_what_is_right_by_chance_or_by_cases_of_another(
    faults: tuple[Fault, ...],
) -> None:
    assert score(Plant(tuple(faults))).wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "numbers",
    [
        (0,),
        pytest.param((6,), marks=pytest.mark.nightly),
        (0, 1),
        pytest.param((6, 7), marks=pytest.mark.nightly),
        (6, 7, 8),
    ],
)
def test_faults_are_named_by_experiment_and_none_wrongly(numbers: tuple[int, ...]) -> None:
    found = score(Plant(tuple(FAULTS[each] for each in numbers)))
    assert found.wrong == ()
    assert set(found.named) == set(found.shown)
    assert len(found.shown) == len(numbers)


def in_float64(output: Tensor) -> Tensor:
    """Whole numbers that went through float64, as far as their type has them."""
    low, high = output.element_type.integer_range
    numbers = [min(max(int(float(each)), low), high) for each in output.array.reshape(-1).tolist()]
    return Tensor(output.element_type, np.array(numbers, output.array.dtype).reshape(output.shape))


FAR_TYPES = (
    Fault(CROP, {"type of input_data": ("bfloat16",)}, turned_round),
    Fault(CROP, {"type of input_data": ("uint64",)}, in_float64),
)
"""Neither type is among those that are tried first; the other one shows only in great numbers."""
INFINITIES = (
    Fault(CUMSUM, {"exclusive": ("1",), "reverse": ("1",)}, off_by_one),
    Fault(CUMSUM, {"exclusive": ("1",)}, clipped),
)
"""The second one needs less, but an infinity, which the first does not need."""


@pytest.mark.slow
@pytest.mark.parametrize("faults", [FAR_TYPES, INFINITIES])
def test_no_cause_has_cases_of_two_faults(faults: tuple[Fault, ...]) -> None:
    plant = Plant(faults)
    found, space = score(plant).diagnosis, space_of(plant.operator)
    case_of = {str(each.id): each for each in cases_of(plant.operator)}
    of = [{plant.first(space, case_of[each]) for each in cause.cases} for cause in found.causes]
    assert sorted(faults.index(fault) for each in of for fault in each if fault is not None) == [0, 1]
    assert len(found.causes) == len(faults)
    assert found.unexplained == ()


def test_a_value_that_fails_of_another_fault_is_none_of_a_cause() -> None:
    """With auto_pad = valid everything is wrong, whatever the type is that the third fault needs."""
    faults = [each for each in HELD_OUT if each.operator == PATCHES]
    found = score(Plant(tuple(faults)))
    assert found.wrong == ()
    assert set(found.named) == set(found.shown) == set(faults)
