"""Faults planted in fakes, alone, in a pair, in a triple: experiment names each, and none wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from opcert.vocabulary.tensors import Tensor
from tests.generator.faulty_fakes import (
    CROP,
    CROPS,
    CUMSUM,
    HIDDEN_TYPES,
    PADS,
    PATCHED,
    REDUCED,
    Fault,
    Plant,
    cases_of,
    clipped,
    off_by_one,
    score,
    space_of,
    turned_round,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "faults",
    [pytest.param(REDUCED[:1], marks=pytest.mark.nightly), REDUCED[1:], HIDDEN_TYPES],
)
def test_no_cause_is_named_by_what_is_right_by_chance_or_by_cases_of_another(
    faults: tuple[Fault, ...],
) -> None:
    assert score(Plant(faults)).wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "faults",
    [
        PADS[:1],
        pytest.param(CROPS[:1], marks=pytest.mark.nightly),
        PADS,
        pytest.param(CROPS[:2], marks=pytest.mark.nightly),
        CROPS,
    ],
)
def test_faults_are_named_by_experiment_and_none_wrongly(faults: tuple[Fault, ...]) -> None:
    found = score(Plant(faults))
    assert found.wrong == ()
    assert set(found.named) == set(found.shown)
    assert len(found.shown) == len(faults)


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
    found = score(Plant(PATCHED))
    assert found.wrong == ()
    assert set(found.named) == set(found.shown) == set(PATCHED)
