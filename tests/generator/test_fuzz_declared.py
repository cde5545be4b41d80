"""Fuzzing an operator of a user's that is declared: calls come from its kinds, and get small by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from generator.calls.data.draws import Draw
from generator.exploring.fuzzing.search import fuzz
from generator.exploring.fuzzing.steps import drawn_anew
from generator.exploring.shrinking.known_space import CallValidity, open_space
from opcert.vocabulary.tensors import Tensor
from specs.model.domain import check_constraints
from tests.generator.fuzz_fakes import Fake, nothing, plain
from tests.generator.test_declared_levels import DECLARED, NAME, REFERENCE
from tests.generator.test_user_specs import IMPORTED

LONG = 1000.0
"""Seconds that no search here takes: the number of calls ends it."""


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> CallValidity:
    folder = tmp_path_factory.mktemp("specs")
    room = folder / "org.example" / "EveryNth"
    room.mkdir(parents=True)
    (room / "imported-1.yaml").write_text(IMPORTED)
    (room / "spec.yaml").write_text(DECLARED)
    (room / "reference.py").write_text(REFERENCE)
    return open_space(NAME, [Path(folder)])


def takes_every_second(attributes: dict[str, Any], _: dict[str, Tensor | None]) -> dict[str, Any] | None:
    """Steps of three and more along the last axis, named from the end, are taken for steps of two."""
    wrong = attributes.get("axis", 0) < 0 and attributes.get("step", 1) > 2
    return {**attributes, "step": 2} if wrong else None


def test_nothing_is_found_where_nothing_is_wrong(space: CallValidity) -> None:
    found = fuzz(space, Fake(space, nothing).ask, 1, LONG, most_calls=40)
    assert found.finds == []
    assert found.tried["pass"] > 20
    assert not found.mistakes


def test_a_mistake_becomes_the_smallest_call_that_shows_it(space: CallValidity) -> None:
    found = fuzz(space, Fake(space, takes_every_second).ask, 1, LONG, most_calls=60)
    (find,) = found.finds
    attributes, inputs = plain(find.small.attempt.call)
    assert find.small.least
    assert attributes == {"axis": -1, "step": 3}
    assert inputs["X"][0] == "float"
    assert len(inputs["X"][1]) == 3


def test_kinds_draw_values_anew(space: CallValidity) -> None:
    calls = [call for _, _, call in space.levels.boundary_calls(space.spec, Draw("edges"))]
    made = [drawn_anew(Draw(str(place)), space, call) for place, call in enumerate(calls * 4)]
    other = [call for call in made if call is not None]
    assert len(other) > len(calls)
    for call in other:
        assert not check_constraints(space.spec, call.attributes, dict(call.inputs))
