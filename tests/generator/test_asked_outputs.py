"""The outputs that ONNX's node tests ask for are told by the operator's own names, and no others."""

from __future__ import annotations

import pytest

from conformance.judging.judge import judge
from generator.asking.answered_outputs import asked_outputs
from generator.asking.calls import call_of
from generator.making.operators.discovery import load_rules
from generator.trust.mutants import subject as mutated
from generator.trust.mutants.measure import asking_for_its_outputs, node_tests
from generator.trust.mutants.subject import MutatedOperator
from opcert.vocabulary.names import OperatorName
from reference.registry import find_operator
from specs.files.library import load_spec

NAMES = [
    ("ai.onnx::Dropout-22", ("y", "z"), None),
    ("ai.onnx::Dropout-22", ("y",), ("output",)),
    ("ai.onnx::LSTM-22", ("", "h"), ("", "Y_h")),
    ("ai.onnx::LSTM-22", ("a", "b", "c"), None),
    ("ai.onnx::Split-18", ("a", "b"), ("outputs_0", "outputs_1")),
    ("ai.onnx::Split-18", ("a",), ("outputs_0",)),
    ("ai.onnx::Abs-13", ("anything",), None),
]


@pytest.mark.parametrize(("operator", "names", "expected"), NAMES)
def test_names(operator: str, names: tuple[str, ...], expected: tuple[str, ...] | None) -> None:
    assert asked_outputs(load_spec(OperatorName.parse(operator)), names) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fewer"),
    [
        ("BatchNormalization-15", 2), ("Dropout-22", 3), ("LSTM-22", 1), ("MaxPool-22", 17), ("Split-18", 9),
        ("NegativeLogLikelihoodLoss-22", 0),
        pytest.param("SoftmaxCrossEntropyLoss-13", 17, marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_the_reference_passes_the_node_tests_that_ask_for_some_outputs(
    name: str, fewer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The largest of these tests has 32,400 scores: longer than one case of a mutant may take.
    monkeypatch.setattr(mutated, "LONGEST", 60.0)
    operator = OperatorName.parse(f"ai.onnx::{name}")
    spec, tests = load_rules(operator), node_tests(operator, lambda _: None)
    subject = MutatedOperator.of(spec, find_operator(operator), ())
    asked = [asking_for_its_outputs(test, spec) for test in tests]
    assert sum(each.outputs_asked for each in asked) == fewer
    with subject.quick():
        for each in asked:
            response, _ = subject.watch(call_of(each))
            assert judge(each, response).verdict == "pass", each.id
