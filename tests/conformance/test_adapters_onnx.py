"""The adapter of the ONNX reference evaluator against the evaluator."""

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

pytestmark = pytest.mark.runtimes("onnx")
ADAPTER = load_adapter("onnx")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    assert runtime.hello["runtime"] == {"name": "onnx", "version": environment_of(ADAPTER).packages["onnx"]}


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    scales = ("scales", tensor(np.array([1, 1], np.float32)))
    kernel = {"kernel_shape": ("ints", [3])}
    cases = [
        make_case("ai.onnx::LRN-13", [("X", numbers((1, 1, 2)))], {"size": ("int", 1)}),
        make_case(
            "ai.onnx::DeformConv-22",
            [("X", numbers((1, 1, 3))), ("W", numbers((1, 1, 3))), ("offset", numbers((1, 3, 1)))],
            kernel,
            numbers((1, 1, 1)),
        ),
        make_case("com.microsoft::Pad-1", [("data", numbers((2,))), ("pads", tensor([1, 1]))]),
        make_case(
            "ai.onnx::Resize-18", [("X", numbers((2, 2))), ("roi", None), scales], {"antialias": ("int", 1)}
        ),
        make_case(
            "ai.onnx::Scatter-9",
            [("data", numbers((2,))), ("indices", tensor([0])), ("updates", numbers((1,)))],
        ),
        make_case(
            "ai.onnx::ImageDecoder-20",
            [("encoded_stream", numbers((2,), "uint8"))],
            output=numbers((1, 1, 1), "uint8"),
        ),
        make_case(
            "ai.onnx::AveragePool-19",
            [("X", numbers((1, 1, 5)))],
            {"kernel_shape": ("ints", [2]), "auto_pad": ("string", "SAME_UPPER"), "ceil_mode": ("int", 1)},
            numbers((1, 1, 5)),
        ),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    scales = ("scales", tensor(np.array([1], np.float32)))
    cases = [
        make_case("ai.onnx::Resize-10", [("X", numbers((1,))), scales]),
        make_case("ai.onnx::Resize-18", [("X", numbers((1,), "string")), ("roi", None), scales]),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
     "uint64", "bool", "string", "complex64", "complex128", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
     "float8e5m2fnuz", "int4", "uint4", "int2", "uint2", "float4e2m1", "float8e8m0", "float6e2m3",
     "float6e3m2"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-25", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("input_data", numbers((5,), "int64")), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::CenterCropPad-18", inputs), form)
