"""Whether an integer wraps is asked only where one may leave its range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from opcert.vocabulary.element_types import ELEMENT_TYPES
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working
from reference.readings.choices import Choice


@pytest.mark.parametrize(
    ("value", "error", "asked"),
    [(5, 0.3, False), (0, 0.0, False), (0, 0.3, True), (255, 0.3, True), (256, 0.0, True), (5, np.inf, True)],
)
def test_wrapping_is_asked_for_at_the_ends_of_the_range(value: int, error: float, asked: bool) -> None:
    told: list[bool] = []
    numbers = Numbers.exact([value], Working(ELEMENT_TYPES["float"]))
    inexact = replace(numbers, error=np.array([error]))
    answer_of(inexact, Choice("wrap", lambda: told.append(True)), ELEMENT_TYPES["uint8"])
    assert bool(told) is asked
