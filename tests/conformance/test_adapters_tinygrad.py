"""The adapter of tinygrad against tinygrad, and the compiler that its environment holds."""

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
    rule_of,
)

pytestmark = pytest.mark.runtimes("tinygrad")
ADAPTER = load_adapter("tinygrad")


def test_it_says_what_it_is_and_brings_its_compiler(runtime: Conversation) -> None:
    environment = environment_of(ADAPTER)
    installed = environment.packages["tinygrad"]
    assert runtime.hello["runtime"] == {"name": "tinygrad", "version": installed}
    assert list((environment.folder / "bin").glob("clang-[1-9]*"))


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    line, image = numbers((2,)), numbers((1, 1, 2, 2))
    query = numbers((1, 1, 1, 1))
    scales = ("scales", tensor(np.array([2, 1, 1, 1], np.float32)))
    cases = [
        make_case("com.microsoft::NoSuch-1", [("X", line)]),
        make_case(
            "ai.onnx::Attention-25",
            [("Q", query), ("K", query), ("V", query)],
            {"left_window_size": ("int", 0)},
        ),
        make_case(
            "ai.onnx::LayerNormalization-17", [("X", line), ("Scale", line)], {"stash_type": ("int", 10)}
        ),
        make_case("ai.onnx::Resize-18", [("X", image), ("roi", None), scales]),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Transpose-13", [("X", numbers((2, 2)))], {"perm": ("ints", [0, 5])})
    assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    [
        *("float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "bool"),
    ],
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3, 1, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


def test_kernels_are_compiled(runtime: Conversation) -> None:
    one, two = tensor(np.array([1, 2], np.float32)), tensor(np.array([3, 4], np.float32))
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", one), ("B", two)])) == [
        tensor(np.array([4, 6], np.float32))
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Reshape-14", inputs), form)
