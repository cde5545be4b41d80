"""The adapter of Aidge against Aidge."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("aidge")
ADAPTER = load_adapter("aidge")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    assert runtime.hello["runtime"]["name"] == "aidge"
    assert runtime.hello["runtime"]["version"][:1].isdigit()


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    pair = numbers((2,), "complex64")
    cases = [
        make_case("com.microsoft::NoSuch-1", [("data", numbers((2,)))]),
        make_case("ai.onnx::Relu-14", [("X", numbers((2,), "int16"))]),
        make_case("ai.onnx::Constant-13", [], {"value": ("tensor", pair)}, output=pair),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_a_bias_that_it_cannot_spread_is_its_own_refusal(runtime: Conversation) -> None:
    square, one = numbers((2, 2)), numbers((1,))
    case = make_case("ai.onnx::Gemm-13", [("A", square), ("B", square), ("C", one)])
    assert rule_of(ADAPTER, runtime, case, "initializers") is None


def test_a_constant_alone_is_what_the_importer_makes_of_it(runtime: Conversation) -> None:
    held = numbers((2, 3), "uint8")
    case = make_case("ai.onnx::Constant-13", [], {"value": ("tensor", held)}, output=held)
    assert runtime.call(case) == [held]


def test_kernels_are_run(runtime: Conversation) -> None:
    one, two = tensor(np.array([1, 2], np.float32)), tensor(np.array([3, 4], np.float32))
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", one), ("B", two)])) == [
        tensor(np.array([4, 6], np.float32))
    ]


@pytest.mark.parametrize("element_type", ["float", "double", "float16", "int8", "int32", "int64", "uint8"])
def test_element_types_pass_unharmed(runtime: Conversation, element_type: str) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers((3, 7), element_type))]))


@pytest.mark.parametrize("form", ["initializers", "inputs", "dynamic"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Reshape-14", inputs), form)


@pytest.mark.parametrize("shape", [(2, 1), (1, 2, 1), (1, 2, 1, 1), (1, 2, 1, 1, 1)])
def test_an_input_has_the_layout_that_the_importer_says(
    runtime: Conversation, shape: tuple[int, ...]
) -> None:
    one = tensor(np.arange(2, dtype=np.float32).reshape(shape))
    both = tensor(np.concatenate([one.array, one.array]))
    case = make_case("ai.onnx::Concat-13", [("a", one), ("b", one)], {"axis": ("int", 0)}, output=both)
    assert runtime.call(case, "initializers") == [both]
