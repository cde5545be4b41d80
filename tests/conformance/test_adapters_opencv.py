"""The adapter of OpenCV against OpenCV."""

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
    converse,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("opencv")
ADAPTER = load_adapter("opencv")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    # Its packages are numbered one further than what they hold: 5.0.0.93 is OpenCV 5.0.0.
    installed = environment_of(ADAPTER).packages["opencv-python-headless"]
    said = runtime.hello["runtime"]
    assert said["name"] == "opencv"
    assert installed.startswith(said["version"] + ".")
    assert runtime.hello["x_settings"] == {"engine": "auto"}


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    line, one = numbers((2,)), numbers((1, 1, 1, 1))
    truth, double = tensor([True, False]), numbers((2, 2), "double")
    past = [("Q", one), ("K", one), ("V", one), ("attn_mask", None), ("past_key", one), ("past_value", one)]
    cases = [
        make_case("ai.onnx::LRN-13", [("X", one)], {"size": ("int", 2)}),
        make_case("com.microsoft::Pad-1", [("data", line), ("pads", tensor([1, 1]))]),
        make_case("ai.onnx::Cast-19", [("X", line)], {"to": ("int", 17)}, numbers((2,), "float8e4m3fn")),
        make_case("ai.onnx::Exp-13", [("X", tensor([1, 2]))]),
        make_case("ai.onnx::Attention-23", past),
        make_case("ai.onnx::EyeLike-22", [("input", numbers((2, 2)))], {"dtype": ("int", 12)}),
        make_case("ai.onnx::Abs-13", [("X", tensor([1, 2], "int32"))]),
        make_case(
            "ai.onnx::MaxPool-22", [("X", numbers((1, 1, 2, 2), "uint8"))], {"kernel_shape": ("ints", [1, 1])}
        ),
        make_case("ai.onnx::Tile-13", [("input", numbers((1,) * 8)), ("repeats", tensor([1] * 8))]),
        make_case("ai.onnx::Gemm-13", [("A", double), ("B", double), ("C", double)]),
        make_case(
            "ai.onnx::IsInf-20", [("X", line)], {"detect_negative": ("int", 0), "detect_positive": ("int", 0)}
        ),
        make_case("ai.onnx::Where-16", [("condition", truth), ("A", truth), ("B", truth)]),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    scales = ("scales", tensor(np.array([1, 1], np.float32)))
    cases = [
        make_case("ai.onnx::Resize-18", [("X", numbers((2, 2))), ("roi", None), scales]),
        make_case("ai.onnx::Transpose-13", [("X", numbers((2, 2)))], {"perm": ("ints", [0, 5])}),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "int8", "int16", "int32", "uint8", "uint16", "uint32", "bool"],
)
@pytest.mark.parametrize("shape", [(), (1,), (3, 7), (2, 1, 3, 1, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("element_type", ["int64", "uint64"])
def test_wide_integers_pass_unharmed_in_the_range_that_it_moves(
    runtime: Conversation, element_type: str
) -> None:
    # It moves 64 bits through 32: beyond that the worker must not hide what comes out.
    kept = tensor([[0, 1], [(1 << 31) - 1, 2]], element_type)
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", kept)]))


def test_what_it_changes_is_sent_as_it_came(runtime: Conversation) -> None:
    (widened,) = runtime.call(make_case("ai.onnx::Identity-16", [("X", numbers((3,), "float16"))]))
    assert widened == tensor(numbers((3,), "float16").array.view(np.float16).astype(np.float32))
    assert runtime.call(make_case("ai.onnx::Identity-16", [("X", numbers((0, 3)))])) == ["NoneType"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("input_data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::CenterCropPad-18", inputs), form)


@pytest.mark.parametrize("engine", ["new", "classic"])
def test_options_reach_the_network(engine: str) -> None:
    with converse(ADAPTER, engine=engine) as conversation:
        assert conversation.hello["x_settings"]["engine"] == engine
        assert_moved_unharmed(conversation, make_case("ai.onnx::Identity-16", [("X", numbers((2,)))]))
