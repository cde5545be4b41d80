"""The adapter of ONNX Runtime against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from conformance.adapter import load_adapter
from conformance.models import FORMS, Form
from opcert.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    converse,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("onnxruntime")
ADAPTER = load_adapter("onnxruntime")


@pytest.fixture(scope="module")
def runtime() -> Iterator[Conversation]:
    with converse(ADAPTER) as conversation:
        yield conversation


def _scales(*values: float) -> tuple[str, Tensor]:
    return ("scales", tensor(np.array(values, np.float32)))


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["onnxruntime"]
    assert runtime.hello["runtime"] == {"name": "onnxruntime", "version": installed}
    assert runtime.hello["devices"] == ["CPU"]
    assert runtime.hello["x_settings"]["threads"] == 1


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    square, line = numbers((2, 2)), numbers((2,))
    antialiased = {"antialias": ("int", 1)}
    no_utf8 = tensor(np.array([b"\xff"], np.object_))
    byte, filters = numbers((1, 1, 1, 1), "uint8"), numbers((2, 1, 1, 1), "uint8")
    cases = [
        make_case("ai.onnx::Resize-18", [("X", numbers((2, 2), "int16")), ("roi", None), _scales(1, 1)]),
        make_case("ai.onnx::Foo-18", [("X", line)]),
        make_case("com.microsoft::Foo-1", [("X", line)]),
        make_case("ai.onnx::Identity-16", [("X", numbers((2,), "complex64"))]),
        make_case("ai.onnx::Abs-99", [("X", line)]),
        make_case(
            "ai.onnx::Resize-18", [("X", line), ("roi", None), _scales(2)], {"mode": ("string", "cubic")}
        ),
        make_case("ai.onnx::Resize-18", [("X", square), ("roi", None), _scales(1, 1)], antialiased),
        make_case("ai.onnx::Compress-28", [("input", line), ("condition", tensor([True, False]))]),
        make_case(
            "ai.onnx::RNN-22",
            [(name, numbers((1, 1, 1))) for name in "XWR"],
            {"layout": ("int", 1), "hidden_size": ("int", 1)},
            numbers((1, 1, 1, 1)),
        ),
        make_case(
            "ai.onnx::ConvInteger-10",
            [("x", byte), ("w", filters), ("x_zero_point", None), ("w_zero_point", numbers((2,), "uint8"))],
            output=numbers((1, 2, 1, 1), "int32"),
        ),
        make_case("ai.onnx::Identity-16", [("X", no_utf8)]),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    square = numbers((2, 2))
    cases = [
        make_case("ai.onnx::Resize-18", [("X", square), ("roi", None), _scales(1)]),
        make_case("ai.onnx::Resize-18", [("X", square), ("roi", None), _scales(1, -1)]),
        make_case("ai.onnx::Resize-18", [("X", square)]),
        make_case("com.microsoft::Pad-1", [("data", numbers((2,), "uint8")), ("pads", tensor([1, 1]))]),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
     "uint64", "bool", "string", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-19", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("input_data", numbers((5,), "int64")), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::CenterCropPad-18", inputs), form)


def test_options_reach_the_session() -> None:
    with converse(ADAPTER, provider="CPU", optimization="none") as conversation:
        assert conversation.hello["x_settings"]["optimization"] == "none"
        assert_moved_unharmed(conversation, make_case("ai.onnx::Identity-19", [("X", numbers((2,)))]))


def test_a_provider_that_is_not_there_is_refused() -> None:
    with pytest.raises(RuntimeRefused, match=r"no provider 'Abacus' here; offered: .*CPUExecutionProvider"):
        converse(ADAPTER, provider="Abacus")
