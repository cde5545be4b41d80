"""The adapter of MNN against MNN."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import FORMS, Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    environment_of,
    numbers,
    refusal,
    rule_of,
)

pytestmark = pytest.mark.runtimes("mnn")
ADAPTER = load_adapter("mnn")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["mnn"]
    assert runtime.hello["runtime"] == {"name": "mnn", "version": installed}
    assert runtime.hello["forms"][0] == "initializers"


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    cases = [
        make_case("com.microsoft::NoSuch-1", [("X", numbers((2, 2)))]),
        make_case("ai.onnx::ArgMax-13", [("data", numbers((2,)))], output=tensor([1])),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_what_the_converter_prints_is_told(runtime: Conversation) -> None:
    told = refusal(runtime, make_case("com.microsoft::NoSuch-1", [("X", numbers((2, 2)))]))
    assert told.kind == "ConversionFailed"
    assert "NoSuch" in told.message
    assert "Start to Convert" not in told.message


def test_types_that_it_would_narrow_are_not_offered_at_the_ends_of_a_model(runtime: Conversation) -> None:
    for element_type in ("int64", "double", "float16", "int8", "bool"):
        case = make_case("ai.onnx::Identity-16", [("X", numbers((2,), element_type))])
        assert rule_of(ADAPTER, runtime, case) is ADAPTER.unsupported[1]


def test_constants_of_such_types_are_taken(runtime: Conversation) -> None:
    inputs = [("data", numbers((2, 3))), ("shape", tensor([2, 3]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Reshape-14", inputs), "initializers")


@pytest.mark.parametrize("element_type", ["float", "int32", "uint8"])
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7), (2, 1, 3, 1, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    one = tensor(np.array([1, 2], np.float32))
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", one)]), form)
