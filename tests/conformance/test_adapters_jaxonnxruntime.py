"""The adapter of JAX ONNX Runtime against JAX ONNX Runtime."""

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
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("jaxonnxruntime")
ADAPTER = load_adapter("jaxonnxruntime")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages
    assert runtime.hello["runtime"] == {"name": "jaxonnxruntime", "version": installed["jaxonnxruntime"]}
    assert runtime.hello["x_settings"]["jax"] == installed["jax"]


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    image = numbers((1, 1, 2, 2))
    pooled = {"kernel_shape": ("ints", [1, 1]), "ceil_mode": ("int", 1)}
    cases = [
        make_case("com.microsoft::NoSuch-1", [("X", image)]),
        make_case("ai.onnx::AveragePool-11", [("X", image)], pooled),
        make_case("ai.onnx::MaxPool-12", [("X", image)], pooled),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    image = numbers((1, 1, 2, 2))
    cases = [
        make_case("ai.onnx::MatMul-13", [("A", image), ("B", numbers((3, 3)))]),
        make_case("ai.onnx::Pad-13", [("data", numbers((3,))), ("pads", tensor([-1, 0]))]),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    [
        *("float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"),
    ],
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(
        runtime, make_case("ai.onnx::Identity-16", [("input", numbers(shape, element_type))])
    )


@pytest.mark.parametrize("form", ["inputs", "initializers", "dynamic", "strided", "again", "untouched"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    inputs = [("data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Reshape-14", inputs), form)


def test_kernels_are_compiled(runtime: Conversation) -> None:
    one, two = tensor(np.array([1, 2], np.float32)), tensor(np.array([3, 4], np.float32))
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", one), ("B", two)])) == [
        tensor(np.array([4, 6], np.float32))
    ]
    # Of a JAX that no longer takes the names of the bounds it is refused.
    low, high = tensor(np.float32(1.5)), tensor(np.float32(1.75))
    clipped = runtime.call(make_case("ai.onnx::Clip-13", [("input", one), ("min", low), ("max", high)]))
    assert clipped == [tensor(np.array([1.5, 1.75], np.float32))]
