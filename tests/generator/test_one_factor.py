"""Calls with one factor changed, as experiments ask for them: each is a call that can be asked."""

from __future__ import annotations

import pytest

from generator.asking.calls import Call
from generator.exploring.shrinking.one_factor import GIVEN_AS, others
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.tensors import tensor
from tests.generator.fuzz_fakes import space_of

MEAN_VARIANCE = "ai.onnx::MeanVarianceNormalization-13"


def test_a_default_that_is_a_list_is_given_as_one_of_its_kind() -> None:
    space = space_of(MEAN_VARIANCE)
    call = Call({}, (("X", tensor([[[[1, 2]]]], "float")),))
    (changed,) = (other for other in others(space, call) if other.to.startswith(GIVEN_AS))
    assert changed.call.attributes == {"axes": attribute("ints", (0, 2, 3))}
    attempt = space.attempt(changed.call)
    assert attempt is not None
    assert attempt.call == changed.call


@pytest.mark.parametrize("name", ["MeanVarianceNormalization-13", "Pad-25", "LSTM-22", "RNN-22", "Resize-19"])
def test_attributes_of_changed_calls_are_of_their_kind(name: str) -> None:
    space = space_of(f"ai.onnx::{name}")
    inputs = tuple((each.name, tensor([1.0], "float")) for each in space.spec.inputs)
    for changed in others(space, Call({}, inputs)):
        for given in changed.call.attributes.values():
            assert given == attribute(given.kind, given.value)
