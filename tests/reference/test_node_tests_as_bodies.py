"""ONNX's own node tests of texts, of training, of control flow, sequences and optionals, run as a body is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx.numpy_helper import to_array

from conformance.suite.protos import read_graph
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, nothing, sequence_of
from reference.readings.choices import Choice
from reference.registry.body_runs import EvaluatedBody
from reference.registry.body_values import tensors_of
from reference.registry.conversions import ARITHMETIC_READINGS, MOVEMENT_READINGS
from tests.reference.official_tests import load_node_tests, load_tests_named

OPERATORS = (
    *("Adagrad", "Adam", "ConcatFromSequence", "If", "Loop", "Momentum", "Optional", "OptionalGetElement"),
    *("OptionalHasElement", "RegexFullMatch", "Scan", "SequenceAt", "SequenceConstruct", "SequenceEmpty"),
    *("SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence", "StringConcat"),
    *("StringNormalizer", "StringSplit", "TfIdfVectorizer"),
)
NEVER_ALONE = {
    *("ConcatFromSequence", "Optional", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase"),
    "SequenceLength",
}
"""Operators that stand in larger models alone."""
OF_DOUBLES = {"test_adam_multiple"}
"""Made with 1 - 0.95 and the like of doubles, where the model holds the coefficients as float32."""
NODES = load_node_tests(OPERATORS)
TESTS = {**NODES, **load_tests_named("test_sequence_m", "test_identity_sequence", "test_identity_opt")}


def held(array: Any) -> Tensor:
    return tensor(array, "string") if array.dtype.kind in "OU" else tensor(array)


def answer_of(value: Any) -> Answer:
    """A tensor, a sequence of these, or an optional of nothing."""
    if value is None:
        return nothing()
    if isinstance(value, list):
        return sequence_of(tuple(held(np.asarray(each)) for each in value))
    return Answer(held(np.asarray(value)))


def test_there_are_tests_of_each() -> None:
    assert {each.model.graph.node[0].op_type for each in NODES.values()} == set(OPERATORS) - NEVER_ALONE
    assert sum(name.startswith("test_sequence_map") for name in TESTS) == 12
    assert sum(name.startswith("test_sequence_model") for name in TESTS) == 8


@pytest.mark.parametrize("name", sorted(TESTS))
def test_node_tests_are_agreed_with(name: str) -> None:
    test = TESTS[name]
    opset = max((each.version for each in test.model.opset_import if not each.domain), default=21)
    graph = read_graph(test.model.graph)
    known = {**ARITHMETIC_READINGS, **MOVEMENT_READINGS}
    readings = {reading: Choice(options[0]) for reading, options in known.items()}
    body = EvaluatedBody.of(Graph(graph.raw, graph.inputs, graph.outputs, opset), opset, readings)
    ((given, wanted),) = test.data_sets
    left = iter(given)
    inside = {each.name: to_array(each) for each in test.model.graph.initializer}
    names = [value_info.name for value_info in test.model.graph.input]
    found = body.outputs([answer_of(inside[name] if name in inside else next(left)) for name in names])
    assert len(found) == len(wanted)
    for answer, each in zip(found, wanted, strict=True):
        right = answer_of(each)
        assert answer.is_sequence == right.is_sequence
        pairs = zip(tensors_of(answer), tensors_of(right), strict=True)
        assert all(fits(part, other.expected, 1.25 if name in OF_DOUBLES else 1) for part, other in pairs)


def fits(answer: Answer, right: Tensor, slack: float) -> bool:
    """Whether a tensor is that one, or within what is allowed of it."""
    if (answer.expected.shape, answer.expected.element_type) != (right.shape, right.element_type):
        return False
    if answer.allowed is None:
        return answer.expected == right
    apart = np.abs(answer.expected.array.astype(np.float64) - right.array)
    return bool(np.all(apart <= answer.allowed * slack))
