"""Calls where a runtime may take a shortcut, and data beside the breakpoints of a formula."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.borders.edges import MOST_ELEMENTS, find_edges, vector_lengths
from generator.calls.data.draws import Draw
from generator.calls.rows.covering_rows import make_rows
from generator.calls.solver.partial import Partial
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import fill_points
from generator.making.operators.opsets import default_operators
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.slots import slots_of
from opcert.vocabulary.tensors import Tensor
from tests.generator.declared import space_of

LONG = 1_000
"""So long an extent makes a runtime use several threads."""


def _space(name: str, version: int) -> CallSpace:
    return space_of(OperatorName("ai.onnx", name, version))


def test_a_default_is_written_and_left_out() -> None:
    edges = {edge.word: edge.call for edge in find_edges(_space("Softmax", 13), Draw("edges"))}
    written, left_out = edges["default_of_axis_written"], edges["default_of_axis_left_out"]
    assert written.attributes["axis"].value == -1
    assert "axis" not in left_out.attributes


@pytest.mark.nightly
@pytest.mark.slow
def test_every_default_is_written_in_one_call_and_left_out_of_the_same() -> None:
    """Of the newest versions, whichever values and shapes the attribute goes with."""
    asked = []
    for operator in default_operators():
        space = space_of(operator)
        attributes = space.spec.attributes
        names = [name for name, each in attributes.items() if each.has_default and not each.required]
        if not names:
            continue
        calls = [edge.call for edge in find_edges(space, Draw(f"{operator}/boundary"))]
        for name in names:
            default = attribute(attributes[name].kind or "", attributes[name].default).value
            digests = {
                at: {
                    _without(call, name).digest(operator)
                    for call in calls
                    if (name in call.attributes) == at and (not at or call.attributes[name].value == default)
                }
                for at in (True, False)
            }
            assert digests[True] & digests[False], f"{name} of {operator}"
            asked.append(name)
    assert len(asked) > 80


def _without(call: Call, name: str) -> Call:
    return replace(call, attributes={each: value for each, value in call.attributes.items() if each != name})


def test_one_tensor_is_given_twice() -> None:
    space = _space("Add", 14)
    (call,) = [edge.call for edge in find_edges(space, Draw("edges")) if edge.word == "one_tensor_twice"]
    assert len(call.inputs) == 1
    assert [(slot.name, slot.parts) for slot in slots_of(call.inputs, call.slots)] == [
        ("A", (0,)),
        ("B", (0,)),
    ]
    assert find_violations(space.spec, call) == []


def test_points_are_met_and_passed_on_both_sides() -> None:
    space = _space("HardSwish", 22)
    data = fill_points(ELEMENT_TYPES["float"], (64,), Partial(space.spec, {}), Draw("points")).array
    for point in (-3.0, 0.0, 3.0):
        below, above = (np.nextafter(np.float32(point), np.float32(end)) for end in (-np.inf, np.inf))
        assert {np.float32(point), below, above} <= set(data.tolist())


def test_points_of_attributes_are_those_of_the_call() -> None:
    space = _space("Shrink", 9)
    scope = Partial(space.spec, {"lambd": 1.5, "bias": 0.0})
    data = fill_points(ELEMENT_TYPES["double"], (32,), scope, Draw("points")).array
    assert {1.5, -1.5, np.nextafter(1.5, 2), np.nextafter(1.5, 1)} <= set(data.tolist())
    whole = fill_points(ELEMENT_TYPES["int8"], (32,), scope, Draw("points")).array
    assert set(whole.tolist()) == {-3, -2, -1, 0, 1, 2}


def test_rows_have_data_at_points() -> None:
    space = _space("ThresholdedRelu", 22)
    classes = {row.levels["data"] for row in make_rows(space, ())}
    assert "points" in classes
    assert "points" not in space_of(OperatorName("ai.onnx", "Add", 14)).factors["data"]


@pytest.mark.parametrize(("name", "version"), [("Concat", 13), ("MatMul", 13), ("Add", 14), ("Sum", 13)])
def test_one_tensor_is_given_twice_where_two_can_have_one_shape(name: str, version: int) -> None:
    """Where a plain call has no two of one shape, one in which all extents are equal has."""
    assert "one_tensor_twice" in {edge.word for edge in find_edges(_space(name, version), Draw("edges"))}


WITHOUT = {"Constant", "RandomNormal", "RandomUniform", "SequenceEmpty"}
"""These have no extents of inputs."""
SHORT = {
    *("AffineGrid", "Attention", "DFT", "GRU", "LSTM", "MaxRoiPool", "MelWeightMatrix", "RNN", "STFT"),
    *("Adagrad", "Adam", "FeatureVectorizer", "If", "Momentum", "RegexFullMatch", "Scan", "TfIdfVectorizer"),
    *("SequenceAt", "SequenceConstruct", "SequenceErase", "SequenceLength"),
    *("CastMap", "DictVectorizer", "ImageDecoder"),
}
"""Their declarations bound every extent: what is computed exactly costs too much where it is long.

Steps of training, bodies, texts, sequences, maps and pictures take what they take as it comes, a few elements
of each.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "operator",
    [
        default_operator
        for default_operator in default_operators()
        if default_operator.name not in WITHOUT | SHORT
    ],
    ids=str,
)
def test_tensors_end_around_a_vector_and_one_is_long(operator: OperatorName) -> None:
    """Extents of inputs, of their blocks (SpaceToDepth), or numbers that extents of the output follow from.

    Those that have none of these, or short ones alone, are named above.
    """
    space, lengths = space_of(operator), set[int]()
    for edge in find_edges(space, Draw("edges")):
        for _, tensor in edge.call.inputs:
            if tensor is not None:
                lengths.update(tensor.shape)
                lengths.update(_whole_numbers(tensor))
            assert tensor is None or tensor.array.size <= MOST_ELEMENTS, edge.word
    around = vector_lengths(space)[:3]
    assert set(around) <= {each for length in lengths for each in (length, length / 2, length / 3)}
    assert max(lengths) >= LONG


def _whole_numbers(tensor: Tensor) -> list[int]:
    """The elements of an input that shapes may hang on."""
    if tensor.array.size > 3 or tensor.element_type.name not in {"float", "int64", "int32"}:
        return []
    return [int(each) for each in tensor.array.reshape(-1).tolist() if math.isfinite(each)]


def test_extents_of_joined_tensors_are_those_of_the_word() -> None:
    edges = {edge.word: edge.call for edge in find_edges(_space("Concat", 13), Draw("edges"))}
    assert {tensor.shape for _, tensor in edges["length_17"].inputs if tensor is not None} == {(17,)}
    for word, axis in (("inputs_0_of_2_is_0", 0), ("inputs_1_of_2_is_0", 1)):
        assert all(tensor is not None and tensor.shape[axis] == 0 for _, tensor in edges[word].inputs)
