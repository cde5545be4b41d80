"""The adapter of nxrt against nxrt."""

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
    numbers,
    refusal,
    rule_of,
)
from tests.conformance.structured_cases import loop_without_condition

pytestmark = pytest.mark.runtimes("nxrt")
ADAPTER = load_adapter("nxrt")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    said = runtime.hello["runtime"]
    assert said["name"] == "nxrt"
    assert said["version"][:1].isdigit()


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    pair = numbers((2,), "complex64")
    line, double = numbers((2,)), numbers((1, 1, 1, 1), "double")
    volume, image = numbers((1, 1, 1, 1, 1)), numbers((1, 1, 2, 2))
    whole, scale = numbers((2,), "int16"), tensor(np.array(1, np.float32))
    halves = ("scales", tensor(np.array([1, 1, 0.5, 0.5], np.float32)))
    channel = [(name, numbers((1,))) for name in ("scale", "B", "input_mean", "input_var")]
    body = loop_without_condition().attributes["body"].value
    cases = [
        make_case("com.microsoft::NoSuch-1", [("data", line)]),
        make_case("com.microsoft::NoSuch-1", [("data", line)], {"body": ("graph", body)}),
        make_case("ai.onnx::Conv-22", [("X", volume), ("W", volume)]),
        make_case("ai.onnx::Relu-14", [("X", numbers((2,), "int32"))]),
        make_case("ai.onnx::Conv-22", [("X", double), ("W", double)]),
        make_case("ai.onnx::Cast-19", [("X", line)], {"to": ("int", 19)}, numbers((2,), "float8e5m2")),
        make_case("ai.onnx::Cast-25", [("X", line)], {"to": ("int", 26)}, numbers((2,), "int2")),
        make_case("ai.onnx::DequantizeLinear-21", [("x", whole), ("x_scale", scale)], output=line),
        make_case(
            "ai.onnx::Resize-19",
            [("X", image), ("roi", None), halves],
            {"mode": ("string", "linear"), "antialias": ("int", 1)},
        ),
        make_case("ai.onnx::BatchNormalization-15", [("X", image), *channel], {"training_mode": ("int", 1)}),
        make_case("ai.onnx::Constant-13", [], {"value": ("tensor", pair)}, output=pair),
        make_case(
            "ai.onnx::Constant-13", [], {"value_string": ("string", "x")}, output=tensor("x", "string")
        ),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    bounds = [("min", tensor(np.array(2, np.float32))), ("max", tensor(np.array(1, np.float32)))]
    cases = [
        make_case("ai.onnx::Clip-13", [("input", numbers((2,))), *bounds]),
        make_case("ai.onnx::Transpose-13", [("X", numbers((2, 2)))], {"perm": ("ints", [0, 5])}),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


def test_a_panic_is_a_refusal_and_the_process_goes_on(runtime: Conversation) -> None:
    shapes = {"Q": (2, 4, 2), "K": (2, 2, 2), "V": (2, 2, 3), "attn_mask": (2, 1, 3, 4)}
    shapes |= {"past_key": (2, 1, 2, 2), "past_value": (2, 1, 2, 3)}  # the mask lacks a row
    heads = {"q_num_heads": ("int", 1), "kv_num_heads": ("int", 1)}
    case = make_case("ai.onnx::Attention-23", [(n, numbers(each)) for n, each in shapes.items()], heads)
    assert refusal(runtime, case).kind == "PanicException"
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers((2,)))]))


@pytest.mark.parametrize(
    "element_type",
    [
        *("float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "bool"),
    ],
)
@pytest.mark.parametrize("shape", [(1,), (0, 3), (3, 7), (2, 1, 3, 1, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Reshape-14", inputs), form)
