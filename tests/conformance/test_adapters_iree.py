"""The adapter of IREE against IREE: compiled code, and its own interpreter's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    converse,
    numbers,
    refusal,
    rule_of,
)

pytestmark = pytest.mark.runtimes("iree")
ADAPTER = load_adapter("iree")
TWO_BYTES = [(name, tensor(np.array([200, 7], np.uint8))) for name in "AB"]


@pytest.fixture(scope="module", params=ADAPTER.options["target"])
def target(request: pytest.FixtureRequest) -> Iterator[Conversation]:
    with converse(ADAPTER, target=request.param) as conversation:
        yield conversation


def test_it_says_what_it_is(target: Conversation) -> None:
    assert target.hello["runtime"]["name"] == "iree"
    assert target.hello["runtime"]["version"][:1].isdigit()


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    assert_every_rule_is_met(
        ADAPTER, runtime, [make_case("com.microsoft::NoSuch-1", [("data", numbers((2,)))])]
    )


def test_a_compiler_that_dies_is_a_refusal_of_its_own(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Unique-11", [("data", numbers((1, 1, 2, 2)))])
    found = refusal(runtime, case)
    assert (found.kind, found.message) == ("CompilerToolError", "iree-compile ended with error code -11")
    assert rule_of(ADAPTER, runtime, case) is None


def test_integers_have_the_sign_of_the_model(target: Conversation) -> None:
    case = make_case("ai.onnx::Add-14", TWO_BYTES, output=tensor(np.array([144, 14], np.uint8)))
    assert target.call(case) == [tensor(np.array([144, 14], np.uint8))]


@pytest.mark.parametrize("element_type", ["float", "double", "float16", "int8", "int64", "uint8", "bool"])
def test_element_types_pass_unharmed(runtime: Conversation, element_type: str) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers((3, 7), element_type))]))


@pytest.mark.parametrize("form", ["initializers", "inputs", "dynamic"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Reshape-14", inputs), form)
