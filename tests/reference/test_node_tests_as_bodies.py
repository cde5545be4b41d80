"""ONNX's own node tests of texts, of training, of control flow, sequences and optionals, run as a body is."""

from __future__ import annotations

from collections.abc import Mapping
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
MODELS = ("test_sequence_map", "test_sequence_model", "test_identity_sequence", "test_identity_opt")
"""What the names of tests of several nodes, or of an operator of every type, begin with."""


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
    nodes = load_node_tests(OPERATORS)
    assert {each.model.graph.node[0].op_type for each in nodes.values()} == set(OPERATORS) - NEVER_ALONE
    assert [len(load_tests_named(beginning)) for beginning in MODELS[:2]] == [12, 8]


@pytest.mark.parametrize("operator", sorted({*OPERATORS} - NEVER_ALONE))
def test_node_tests_are_agreed_with(operator: str) -> None:
    agree_with(load_node_tests((operator,)))


@pytest.mark.parametrize("beginning", MODELS)
def test_tests_of_models_are_agreed_with(beginning: str) -> None:
    agree_with(load_tests_named(beginning))


def agree_with(tests: Mapping[str, Any]) -> None:
    """Each of some tests gives what it says that it gives."""
    assert tests
    for name, test in tests.items():
        agree(name, test)


def agree(name: str, test: Any) -> None:
    opset = max((each.version for each in test.model.opset_import if not each.domain), default=21)
    graph = read_graph(test.model.graph)
    known = {**ARITHMETIC_READINGS, **MOVEMENT_READINGS}
    readings = {reading: Choice(options[0]) for reading, options in known.items()}
    body = EvaluatedBody.of(Graph(graph.raw, graph.inputs, graph.outputs, opset), opset, readings)
    ((given, wanted),) = test.data_sets
    left = iter(given)
    inside = {each.name: to_array(each) for each in test.model.graph.initializer}
    inputs = [value_info.name for value_info in test.model.graph.input]
    found = body.outputs([answer_of(inside[each] if each in inside else next(left)) for each in inputs])
    assert len(found) == len(wanted), name
    for answer, each in zip(found, wanted, strict=True):
        right = answer_of(each)
        assert answer.is_sequence == right.is_sequence, name
        pairs = zip(tensors_of(answer), tensors_of(right), strict=True)
        assert all(fits(part, other.expected, 1.25 if name in OF_DOUBLES else 1) for part, other in pairs), (
            name
        )


def fits(answer: Answer, right: Tensor, slack: float) -> bool:
    """Whether a tensor is that one, or within what is allowed of it."""
    if (answer.expected.shape, answer.expected.element_type) != (right.shape, right.element_type):
        return False
    if answer.allowed is None:
        return answer.expected == right
    apart = np.abs(answer.expected.array.astype(np.float64) - right.array)
    return bool(np.all(apart <= answer.allowed * slack))
