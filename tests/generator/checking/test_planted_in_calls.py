"""A runtime that misreads one value of one attribute: cases of a call that has it tell, others do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from conformance.checked_models.model_calls import ModelCall
from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Refused
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.asking.questions import settled_options
from generator.models.check.making import cases_of_call
from opcert.vocabulary.attributes import AttributeValue
from reference.registry import reference_of
from specs.files.library import load_spec
from tests.generator.checking.made_calls import call, fed, fixed, weight

pytestmark = pytest.mark.slow

X = fed("n", 8, 28, 28)
FAULTS: dict[str, tuple[str, AttributeValue, AttributeValue, ModelCall, ModelCall]] = {
    "dilations of two are one": (
        "dilations",
        (2, 2),
        (1, 1),
        call("Conv-11", [X, weight(4, 8, 3, 3)], kernel_shape=[3, 3], dilations=[2, 2], pads=[2, 2, 2, 2]),
        call("Conv-11", [X, weight(4, 8, 3, 3)], kernel_shape=[3, 3], dilations=[1, 1], pads=[2, 2, 2, 2]),
    ),
    "windows that reach behind are left out": (
        "ceil_mode",
        1,
        0,
        call("MaxPool-12", [X], ceil_mode=1, kernel_shape=[3, 3], strides=[2, 2]),
        call("MaxPool-12", [X], ceil_mode=0, kernel_shape=[3, 3], strides=[2, 2]),
    ),
    "an axis of one is the last": (
        "axis",
        1,
        -1,
        call("Softmax-13", [fed("n", "s", 64)], axis=1),
        call("Softmax-13", [fed("n", "s", 64)], axis=2),
    ),
    "a slope of 0.1 is 0.01": (
        "alpha",
        0.1,
        0.01,
        call("LeakyRelu-16", [X], alpha=0.1),
        call("LeakyRelu-16", [X], alpha=0.2),
    ),
    "reflecting is repeating the edge": (
        "mode",
        "reflect",
        "edge",
        call("Pad-13", [X, fixed([0, 0, 1, 1, 0, 0, 1, 1])], mode="reflect"),
        call("Pad-13", [X, fixed([0, 0, 1, 1, 0, 0, 1, 1])], mode="constant"),
    ),
    "a second factor is not turned": (
        "transB",
        1,
        0,
        call("Gemm-13", [fed("n", 64), weight(64, 64)], transB=1),
        call("Gemm-13", [fed("n", 64), weight(64, 64)], transB=0),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_cases_of_the_call_find_the_fault_and_others_do_not(name: str) -> None:
    attribute, value, taken_for, having, lacking = FAULTS[name]
    found = cases_of_call(having, 10).cases
    assert found
    assert any(_verdict(each, attribute, value, taken_for) in FAILING for each in found)
    others = cases_of_call(lacking, 10).cases
    assert others
    assert {_verdict(other, attribute, value, taken_for) for other in others} == {"pass"}


def _verdict(case: Case, attribute: str, value: AttributeValue, taken_for: AttributeValue) -> str:
    """What is said of a runtime that takes one value of an attribute for another, and is right otherwise."""
    attributes: dict[str, Any] = {name: each.value for name, each in case.attributes.items()}
    if attributes.get(attribute) == value or _near(attributes.get(attribute), value):
        attributes[attribute] = taken_for
    spec = load_spec(case.operator)
    reference = reference_of(spec)
    settled = settled_options(spec, reference)
    try:
        answers: Sequence[Any] = reference.evaluate(attributes, dict(case.inputs), settled, outputs=1)
    except Exception as error:  # noqa: BLE001 - what the fault makes of a call may be none: then it is refused
        return judge(case, Refused("Error", str(error))).verdict
    return judge(case, Answered((answers[0].expected,))).verdict


def _near(one: object, other: object) -> bool:
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) < 1e-6
