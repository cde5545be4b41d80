"""The adapter of emx-onnx-cgen against emx-onnx-cgen, with the C compiler that there is."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_moved_unharmed,
    environment_of,
    numbers,
    refusal,
    rule_of,
)

pytestmark = pytest.mark.runtimes("emx-onnx-cgen")
ADAPTER = load_adapter("emx-onnx-cgen")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["emx-onnx-cgen"]
    assert runtime.hello["runtime"] == {"name": "emx-onnx-cgen", "version": installed}
    assert runtime.hello["x_settings"]["compiler"]


def test_what_it_says_that_it_lacks_is_not_offered(runtime: Conversation) -> None:
    lacking = make_case("com.microsoft::NoSuch-1", [("X", numbers((2,)))])
    assert rule_of(ADAPTER, runtime, lacking) is ADAPTER.unsupported[0]
    large = make_case("ai.onnx::Identity-16", [("X", numbers(((1 << 22) + 1,), "bool"))])
    assert rule_of(ADAPTER, runtime, large) is ADAPTER.unsupported[2]


def test_a_compiler_without_bfloat16_is_no_fault_of_its_own(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Identity-16", [("X", numbers((2,), "bfloat16"))])
    try:
        assert_moved_unharmed(runtime, case)
    except Exception:  # noqa: BLE001 - which of both depends on the compiler
        assert rule_of(ADAPTER, runtime, case) is ADAPTER.unsupported[1]


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Pad-13", [("data", numbers(())), ("pads", tensor(np.zeros(0, np.int64)))])
    assert rule_of(ADAPTER, runtime, case, "initializers") is None
    assert "C compilation failed" in refusal(runtime, case, "initializers").message


@pytest.mark.parametrize("element_type", ["float", "float16", "uint8", "int64", "bool"])
def test_element_types_pass_unharmed(runtime: Conversation, element_type: str) -> None:
    assert_moved_unharmed(
        runtime, make_case("ai.onnx::Identity-16", [("X", numbers((2, 1, 3), element_type))])
    )


@pytest.mark.parametrize("form", ["initializers", "inputs"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    one, two = tensor(np.array([1, 2], np.float32)), tensor(np.array([3, 4], np.float32))
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", one), ("B", two)]), form) == [
        tensor(np.array([4, 6], np.float32))
    ]
