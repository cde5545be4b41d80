"""ONNX's own node tests of operators on texts, of training and of control flow, run as a body is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.suite.protos import read_graph
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.readings.choices import Choice
from reference.registry.body_runs import EvaluatedBody
from reference.registry.conversions import ARITHMETIC_READINGS, MOVEMENT_READINGS
from tests.reference.official_tests import load_node_tests

OPERATORS = (
    *("Adagrad", "Adam", "If", "Loop", "Momentum", "RegexFullMatch", "Scan", "StringConcat"),
    *("StringNormalizer", "StringSplit", "TfIdfVectorizer"),
)
OF_NO_TENSORS = {
    "test_if_opt": "its branches give optionals",
    "test_if_seq": "its branches give sequences",
    "test_loop13_seq": "its states are sequences",
    "test_loop16_seq_none": "its states are optionals",
}
"""Node tests of values that are no tensors, each with the reason why no body is run."""
OF_DOUBLES = {"test_adam_multiple"}
"""Made with 1 - 0.95 and the like of doubles, where the model holds the coefficients as float32."""
TESTS = load_node_tests(OPERATORS)


def held(array: Any) -> Tensor:
    return tensor(array, "string") if array.dtype.kind in "OU" else tensor(array)


def test_there_are_tests_of_each() -> None:
    assert {each.model.graph.node[0].op_type for each in TESTS.values()} == set(OPERATORS)
    assert set(OF_NO_TENSORS) <= set(TESTS)


@pytest.mark.parametrize("name", sorted(set(TESTS) - set(OF_NO_TENSORS)))
def test_node_tests_are_agreed_with(name: str) -> None:
    test = TESTS[name]
    opset = max((each.version for each in test.model.opset_import if not each.domain), default=21)
    graph = read_graph(test.model.graph)
    known = {**ARITHMETIC_READINGS, **MOVEMENT_READINGS}
    readings = {reading: Choice(options[0]) for reading, options in known.items()}
    body = EvaluatedBody.of(Graph(graph.raw, graph.inputs, graph.outputs, opset), opset, readings)
    ((given, wanted),) = test.data_sets
    found = body.outputs([Answer(held(np.asarray(each))) for each in given])
    assert len(found) == len(wanted)
    for answer, each in zip(found, wanted, strict=True):
        right = held(np.asarray(each))
        assert (answer.expected.shape, answer.expected.element_type) == (right.shape, right.element_type)
        if answer.allowed is None:
            assert answer.expected == right
        else:
            apart = np.abs(answer.expected.array.astype(np.float64) - right.array)
            assert np.all(apart <= answer.allowed * (1.25 if name in OF_DOUBLES else 1))
