"""Faults of operators beyond the default suite, made without what their kinds bring, are named by that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from generator.exploring.diagnosis.change_trials import FailingCase, explain
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

Given = Mapping[str, NDArray[Any]]
Fault = Callable[[Given, Mapping[str, Any], NDArray[Any]], NDArray[Any] | None]
"""A wrong answer by inputs, attributes and the right one; None where there is nothing to get wrong."""


def columns_first(given: Given, attributes: Mapping[str, Any], right: NDArray[Any]) -> NDArray[Any] | None:
    """Elements go from axis to axis as in a language that keeps columns together."""
    return given["data"].ravel(order="F").reshape(right.shape[::-1]).T


def ones_squeezed(given: Given, attributes: Mapping[str, Any], right: NDArray[Any]) -> NDArray[Any] | None:
    if not (given["shape"] > 1).any() or (given["shape"] == 0).any():
        return None
    return right.reshape(
        [extent for extent, wanted in zip(right.shape, given["shape"], strict=True) if wanted != 1]
    )


def reversed_by(lengths: Callable[[list[int]], list[int]]) -> Fault:
    """Each sequence reversed as far as a list of lengths says, one element after the other."""

    def fault(given: Given, attributes: Mapping[str, Any], right: NDArray[Any]) -> NDArray[Any] | None:
        by_time = attributes.get("time_axis", 0) == 0
        data = given["input"] if by_time else given["input"].swapaxes(0, 1)
        asked = given["sequence_lens"].tolist()
        if not asked or min(lengths(asked)) < 0:
            return None
        found = data.copy()
        for batch, length in enumerate(lengths(asked)):
            for step in range(length):
                found[step, batch] = data[length - 1 - step, batch]
        return found if by_time else found.swapaxes(0, 1)

    return fault


def no_extents_of_one(
    given: Given, attributes: Mapping[str, Any], right: NDArray[Any]
) -> NDArray[Any] | None:
    return right.squeeze()


def an_axis_at_least(given: Given, attributes: Mapping[str, Any], right: NDArray[Any]) -> NDArray[Any] | None:
    return right.reshape(1) if right.ndim == 0 else None


RESHAPE, REVERSE, FILL = "ai.onnx::Reshape-13", "ai.onnx::ReverseSequence-10", "ai.onnx::ConstantOfShape-9"
FAULTS: tuple[tuple[str, Fault, str], ...] = (
    (RESHAPE, columns_first, "shape first axis fastest"),
    (RESHAPE, ones_squeezed, "shape without ones"),
    (REVERSE, reversed_by(lambda given: [max(given)] * len(given)), "sequence_lens longest"),
    (REVERSE, reversed_by(lambda given: given[:1] * len(given)), "sequence_lens first"),
    (REVERSE, reversed_by(lambda given: [each - 1 for each in given]), "sequence_lens one less"),
    (FILL, no_extents_of_one, "input without ones"),
    (FILL, an_axis_at_least, "input one element"),
)


@cache
def _cases(operator: str) -> tuple[Case, ...]:
    made = generate_operator(OperatorName.parse(operator), Options())
    return tuple(each for each in made.cases if each.demand == "answer")


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "fault", "key"), FAULTS, ids=[key for _, _, key in FAULTS])
def test_a_fault_is_named_by_a_change_of_its_kind(operator: str, fault: Fault, key: str) -> None:
    failures, passing = [], []
    for case in _cases(operator):
        (right,) = (output.expected for output in case.expectations[0].outputs)
        given = {name: each.array for name, each in case.inputs if each is not None}
        attributes = {name: attribute.value for name, attribute in case.attributes.items()}
        array = fault(given, attributes, right.array)
        if array is None:
            continue
        answer = Tensor(right.element_type, np.ascontiguousarray(array).reshape(array.shape))
        if judge(case, Answered((answer,))).verdict == "pass":
            passing.append(case)
        else:
            failures.append(FailingCase(case, (answer,)))
    assert len(failures) > 3
    found = explain([str(failure.case.id) for failure in failures], failures, passing)
    assert found.change is not None, [each for each in found.tried if each.fits == each.tested]
    assert found.change.key == key
