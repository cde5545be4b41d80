"""Each type has data that narrower ones do not hold, and relations have neighbours of such numbers."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.suite.cases import Case
from generator.making.cases.told_cases import is_wide
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor


def cases_of(name: str, word: str) -> list[Case]:
    made = generate_operator(OperatorName.parse(name), Options()).cases
    return [each for each in made if str(each.id.word).startswith(word)]


@pytest.mark.parametrize(
    ("numbers", "element_type", "wide"),
    [
        ([0.1, 0.2], "double", True),
        ([0.1, 1.5, 2.5], "double", False),
        ([5e-324, 5e-324], "double", False),
        ([0.1], "float", False),
        ([2**24 + 1], "int32", True),
        ([2**53 + 1], "int64", True),
        ([2**52 + 1], "int64", False),
        ([2**64 - 1], "uint64", True),
    ],
)
def test_wide_is_what_no_narrower_type_holds(numbers: list[float], element_type: str, wide: bool) -> None:
    assert is_wide(tensor(numbers, element_type)) is wide


def test_a_double_that_is_held_as_float_is_told() -> None:
    (case,) = cases_of("ai.onnx::Gather-13", "wide_double")
    ((_, data), *_) = case.inputs
    assert data is not None
    assert is_wide(data)
    assert case.demand == "answer"


def test_an_operator_that_has_such_data_gets_no_more() -> None:
    assert cases_of("org.openvino::ExtractImagePatches-3", "wide_") == []


def test_relations_are_asked_about_neighbours() -> None:
    found = cases_of("ai.onnx::Equal-19", "beside_")
    kinds = {"double", "int32", "uint32", "int64", "uint64", "bfloat16"}
    assert {each.element_type.name for each in found} == kinds
    for case in found:
        answer = case.expectations[0].outputs[0].expected.array.reshape(-1).tolist()
        assert answer == [at % 2 == 0 for at in range(len(answer))]


def test_neighbours_that_are_equal_may_be_infinite() -> None:
    (case,) = cases_of("ai.onnx::Greater-13", "beside_double")
    left, right = (given.array.reshape(-1) for _, given in case.inputs if given is not None)
    assert left[:3:2].tolist() == right[:3:2].tolist() == [np.inf, -np.inf]
