"""Cases in 16 bits are small enough that what they accept says something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.suite.cases import Case, Expectation, ExpectedOutput
from generator.asking.calls import Call
from generator.making.cases.telling import meaningful, says_something, shortened
from generator.making.cases.typed_cases import add_lengths_in_types
from generator.making.families.boundary import make_boundary
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from tests.conformance.samples import make_case

RIGHT = np.array([1, -2, 4, 0, np.inf], np.float32)


def case_with(allowed: list[float], given: float = 1.0) -> Case:
    output = ExpectedOutput("Y", tensor(RIGHT), np.array(allowed))
    exact = ExpectedOutput("Y", tensor(RIGHT), np.zeros(5))
    return replace(
        make_case(seed=1, demand="answer"),
        inputs=(("X", tensor(np.array([given], np.float32))),),
        expectations=(Expectation((exact,)), Expectation((output,))),
    )


@pytest.mark.parametrize(
    ("allowed", "says"),
    [
        ([0.4, 0.9, 1.9, 9, 9], True),
        ([0.5, 0.9, 1.9, 0, 0], True),
        ([0.5, 1.0, 1.9, 0, 0], False),
        ([np.inf, np.inf, 0, 0, 0], False),
    ],
)
def test_half_of_the_elements_off_by_half_say_nothing(allowed: list[float], says: bool) -> None:
    """Under any reading; zeros and infinities do not count, nor what is made of extreme numbers."""
    assert says_something(case_with(allowed)) == says
    assert says_something(case_with(allowed, given=1e30))


def test_the_longest_axes_are_cut_together() -> None:
    inputs = (("X", np.zeros((3, 9))), ("B", np.zeros(9)), ("C", np.zeros((3, 1))))
    call = Call({}, tuple((name, tensor(array)) for name, array in inputs))
    shapes = [[each.shape for _, each in found.inputs if each is not None] for found in shortened(call)]
    assert shapes == [
        [(3, 4), (4,), (3, 1)],
        [(3, 2), (2,), (3, 1)],
        [(2, 2), (2,), (2, 1)],
    ]


def test_a_call_with_a_graph_keeps_its_shapes() -> None:
    call = Call({"score_mod": attribute("graph", b"")}, (("Q", tensor(np.zeros(9))),))
    assert list(shortened(call)) == []


def test_sums_that_say_nothing_become_shorter_ones_that_do() -> None:
    """The squares of 800 numbers less their mean, in float16."""
    workshop = open_workshop(OperatorName.parse("ai.onnx::GroupNormalization-21"), Options())
    draw = np.random.default_rng(3)
    X = draw.integers(-64, 64, (1, 4, 20, 20)).astype(np.float32) / 16
    inputs = (("X", tensor(X)), ("scale", tensor(X[0, :, 0, 0])), ("bias", tensor(X[0, :, 0, 1])))
    call = Call({"num_groups": attribute("int", 2), "stash_type": attribute("int", 10)}, inputs)
    case = workshop.make_valid("boundary", "some", call)
    assert not says_something(case)
    shorter, made = meaningful(workshop, call, case)
    assert says_something(made)
    assert made.id.word == "some"
    assert made.inputs == shorter.inputs != call.inputs


@pytest.mark.parametrize("name", ["ReduceMean-18", "LpNormalization-22"])
def test_long_axes_of_float16_are_no_longer_than_says_something(name: str) -> None:
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::{name}"), Options())
    make_boundary(workshop)
    add_lengths_in_types(workshop)
    found = [each for each in workshop.cases.values() if str(each.id.word).endswith("_of_float16")]
    assert len(found) > 1
    for case in found:
        assert says_something(case)
        longest = max(length for _, each in case.inputs if each is not None for length in each.shape)
        assert case.id.word == f"length_{longest}_of_float16"
