"""Calls with one factor changed, as experiments ask for them: each is a call that can be asked."""

from __future__ import annotations

import numpy as np
import pytest

from generator.asking.calls import Call
from generator.exploring.shrinking.known_space import CallValidity
from generator.exploring.shrinking.one_factor import GIVEN_AS, further, others
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


def digest_of(call: Call, space: CallValidity) -> str:
    return call.digest(space.spec.operator)


def test_a_scalar_gets_an_axis_together_with_the_list_that_is_about_axes() -> None:
    space = space_of("org.tensorflow::Transpose-1")
    call = Call({}, (("x", tensor(7.0, "float")), ("perm", tensor(np.zeros(0, np.int64), "int64"))))
    axis = Call({}, (("x", tensor([7.0], "float")), ("perm", tensor([0], "int64"))))
    assert digest_of(axis, space) in [digest_of(each.call, space) for each in further(call)]
    assert space.attempt(axis)


def test_a_vector_is_cut_together_with_the_axes_that_are_as_long() -> None:
    space = space_of("org.tensorflow::BiasAdd-1")
    value, bias = tensor(np.ones((1, 4, 1), np.float32), "float"), tensor(np.ones(4, np.float32), "float")
    call = Call({"data_format": attribute("string", "NCHW")}, (("value", value), ("bias", bias)))
    cut = Call(call.attributes, (("value", tensor([[[1.0]]], "float")), ("bias", tensor([1.0], "float"))))
    assert digest_of(cut, space) in [digest_of(each.call, space) for each in further(call)]
    assert space.attempt(cut)


def test_tensors_of_a_row_are_cut_alike_before_the_axis_in_which_they_differ() -> None:
    space = space_of("ai.onnx::Concat-13")
    shapes, axis = ((2, 1), (2, 3)), {"axis": attribute("int", 1)}
    call = Call(axis, tuple(("inputs", tensor(np.ones(shape, np.float32), "float")) for shape in shapes))
    cut = Call(axis, tuple(("inputs", tensor(np.ones((1, each), np.float32), "float")) for each in (1, 3)))
    assert digest_of(cut, space) in [digest_of(each.call, space) for each in further(call)]
    assert space.attempt(cut)
