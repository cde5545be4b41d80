"""Functions are asked about small and large numbers where these fill vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from generator.making.cases.sized_cases import LENGTH, WORD
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

VECTOR = 8
STEP = 2.0**-22


def cases_of(name: str) -> list[Case]:
    return list(generate_operator(OperatorName.parse(name), Options()).cases)


def in_vectors(cases: list[Case]) -> list[Case]:
    return [each for each in cases if str(each.id.word).startswith(WORD)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ai.onnx::Erf-13", "ai.onnx::Erf-9", "ai.onnx::Div-14", "ai.onnx::Softmax-13"]
)
def test_each_floating_type_has_one(name: str) -> None:
    found = in_vectors(cases_of(name))
    kinds = {"float16", "float", "double"} | ({"bfloat16"} if not name.endswith("Erf-9") else set())
    assert {each.element_type.name for each in found} == kinds
    assert len(found) == len(kinds)
    for case in found:
        for _, given in case.inputs:
            assert given is not None
            assert given.shape == (LENGTH,)


@pytest.mark.parametrize(
    "name", ["ai.onnx::Identity-25", "ai.onnx::Abs-13", "ai.onnx::And-7", "ai.onnx::Conv-22"]
)
def test_what_rounds_nothing_or_no_element_alone_has_none(name: str) -> None:
    assert in_vectors(cases_of(name)) == []


def test_sizes_are_many() -> None:
    (case,) = (
        vector_case
        for vector_case in in_vectors(cases_of("ai.onnx::Erf-13"))
        if vector_case.element_type.name == "float"
    )
    ((_, given),) = case.inputs
    assert given is not None
    sizes = np.abs(given.array.astype(np.float64))
    bands = [(0, 2.0**-6), (2.0**-6, 1), (1, 4), (4, np.inf)]
    assert all(np.count_nonzero((low <= sizes) & (sizes < high)) >= VECTOR for low, high in bands)
    assert min(np.count_nonzero(given.array < 0), np.count_nonzero(given.array > 0)) > LENGTH // 4


def test_an_absolute_error_of_vectors_alone_is_noticed() -> None:
    """Elsewhere tensors are short, their numbers are whole, or so small that anything may flush them."""
    asked = [
        each
        for each in cases_of("ai.onnx::Erf-13")
        if each.expectations and each.element_type.name == "float"
    ]
    assert [each for each in asked if judge(each, _erf(each, step=0)).verdict != "pass"] == []
    noticed = [each for each in asked if judge(each, _erf(each, step=STEP)).verdict == "mismatch"]
    assert any(str(each.id.word) == f"{WORD}_float" for each in noticed)


def _erf(case: Case, step: float) -> Answered:
    """The error function in float, of whole vectors with an error that does not hang on its result."""
    ((_, given),) = case.inputs
    assert given is not None
    exact = np.array([math.erf(each) for each in given.array.reshape(-1).tolist()])
    if step and exact.size >= VECTOR:
        exact = np.where(np.isnan(exact), exact, np.round(exact / step) * step)
    made = exact.astype(np.float32).reshape(given.shape)
    return Answered((Tensor(ELEMENT_TYPES["float"], made),))
