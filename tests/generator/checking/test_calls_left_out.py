"""Calls without cases: each says why, and none stops the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.checked_models.model_calls import ModelCall, ModelValue
from generator.models.check import making
from generator.models.check.making import cases_of_call
from generator.models.check.model_cases import cases_of_calls
from opcert.vocabulary.names import OperatorName
from tests.generator.checking.made_calls import call, fed, fixed, weight


def _changed(model: ModelCall, **changes: object) -> ModelCall:
    return replace(model, first=replace(model.first, **changes))  # type: ignore[arg-type]


_OF_THREE_CLASSES: dict[str, Any] = {
    "classlabels_ints": [0, 1, 2],
    "coefficients": [1.0] * 6,
    "kernel_params": [0.5, 0.0, 3.0],
    "kernel_type": "RBF",
    "post_transform": "NONE",
    "prob_a": [-1.0, -2.0, -1.5],
    "prob_b": [0.25, 0.5, 0.0],
    "rho": [0.5, 0.25, -0.5],
    "support_vectors": [0.0, 1.0, 2.0, 0.5, -1.0, 3.0],
    "vectors_per_class": [1, 1, 1],
}
"""What skl2onnx writes of an SVC with probabilities, here with one vector for each class."""


def _three_classes(batch: int | str) -> ModelCall:
    return call("ai.onnx.ml::SVMClassifier-1", [fed(batch, 2)], 2, **_OF_THREE_CLASSES)


RELU = call("Relu-14", [fed("n", 3)])
LEFT_OUT = {
    "no operator version": (_changed(RELU, operator=None, unknown="No opset."), "unknown", "No opset."),
    "no spec": (
        _changed(RELU, operator=OperatorName("ai.example", "Gelu", 1)),
        "unspecified",
        "There is no spec of ai.example::Gelu-1.",
    ),
    "an attribute that the document has not": (
        call("Relu-14", [fed("n", 3)], alpha=0.5),
        "not_valid",
        "The document of ai.onnx::Relu-14 has no attribute alpha.",
    ),
    "a value that the document has not": (
        call("Resize-13", [fed(1, 1, 4, 4), None, fixed([1, 1, 2, 2], "float32")], mode="area"),
        "not_valid",
        "mode is 'area' in the node; the document allows 'nearest' or 'linear' or 'cubic'.",
    ),
    "a type that the document has not": (
        call("Softmax-13", [fed("n", 3, of="int64")]),
        "not_valid",
        "X",
    ),
    "two types of one": (
        call("Add-14", [fed("n", 3), fed("n", 3, of="double")]),
        "not_valid",
        "B is double where another input of its type is float.",
    ),
    "an input too many": (call("Relu-14", [fed(3), fed(3)]), "not_valid", "The node has 2 inputs"),
    "an output too many": (call("Relu-14", [fed(3)], outputs=2), "not_valid", "The node has 2 outputs"),
    "a map": (
        call("Identity-16", [ModelValue("s", kind="map(int64,tensor(float))")]),
        "no_tensors",
        "map(int64,tensor(float))",
    ),
    "a sequence in the place of a tensor": (
        call("Relu-14", [ModelValue("s", kind="seq(tensor(float))")]),
        "not_valid",
        "X is seq(tensor(float)); the document has none of that form.",
    ),
    "an attribute that is not carried": (
        _changed(RELU, unread={"body": "a sparse tensor"}),
        "unread",
        "a sparse tensor",
    ),
    "what its document leaves open": (_three_classes("n"), "undefined", "no formula for probabilities"),
    "what its document leaves open, of a stated batch": (
        _three_classes(5),
        "undefined",
        "no formula for probabilities",
    ),
    "what its document leaves open, of an input that no shape is known of": (
        call("ai.onnx.ml::SVMClassifier-1", [ModelValue("fed", "float")], 2, **_OF_THREE_CLASSES),
        "undefined",
        "no formula for probabilities",
    ),
    "a rank that no rule allows": (
        call("Gemm-13", [fed(1, 8, 8), weight(8, 4)]),
        "not_valid",
        "A is of rank 3 in the model, and of rank 2 in its document.",
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_call_says_why_it_has_no_cases(name: str) -> None:
    model, why, said = LEFT_OUT[name]
    made = cases_of_call(model)
    assert not made.cases
    assert made.not_covered is not None
    assert made.not_covered.why == why
    assert said in made.not_covered.text or (said == "X" and "int64" in made.not_covered.text)


def test_a_mistake_of_ours_in_one_call_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    make = making._make

    def failing(model: ModelCall, key: str, most: int) -> object:
        if model.first.op_type == "Relu":
            raise KeyError("planted")
        return make(model, key, most)

    monkeypatch.setattr(making, "_make", failing)
    relu, add = cases_of_calls([RELU, call("Neg-13", [fed("n", 3)])], keep=False)
    assert relu.not_covered is not None
    assert relu.not_covered.why == "failed"
    assert "KeyError" in relu.not_covered.text
    assert add.cases


def test_values_that_make_every_case_too_large_are_exchanged() -> None:
    made = cases_of_call(call("Expand-13", [fed(1, 256, 1), fixed([300, 256, 400])]), 4)
    assert made.cases
    assert made.given_up == (
        "With the model's own values of shape every case is too large: they have others.",
    )
