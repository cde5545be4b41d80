"""What takes more steps than a size affords is left to the size `full`, and fewer elements stand for it."""

from __future__ import annotations

import pytest

from generator.making.families.boundary import make_boundary
from generator.making.operators import workshop as workshops
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.names import OperatorName
from reference.numbers.noted_functions import TooManySteps, note_steps, within_steps

TANH = OperatorName.parse("ai.onnx::Tanh-13")


def lengths(size: str) -> dict[str, int]:
    """The words of cases of one long axis, and how long it is."""
    workshop = open_workshop(TANH, Options.of(size))
    make_boundary(workshop)
    return {
        str(case.id.word): case.inputs[0][1].shape[0]
        for case in workshop.cases.values()
        if str(case.id.word).startswith("length_") and case.inputs[0][1] is not None
    }


def test_fewer_elements_stand_for_many_where_these_are_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hyperbolic tangent of 4,099 elements takes 81,980 steps, that of 515 takes 10,300."""
    monkeypatch.setattr(workshops, "MOST_STEPS", 50_000)
    assert lengths("default") == {"length_15": 15, "length_16": 16, "length_17": 17, "length_515": 515}
    assert lengths("full") == {"length_15": 15, "length_16": 16, "length_17": 17, "length_4099": 4099}


def test_cheap_ones_stay() -> None:
    assert lengths("default")["length_4099"] == 4099


def test_an_evaluation_ends_where_its_steps_are_used_up() -> None:
    note_steps(10)
    with within_steps(10):
        note_steps(7)
        note_steps(3)
        with pytest.raises(TooManySteps):
            note_steps(1)
