"""The adapter of ONNX Runtime against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import FORMS, Form
from conformance.runtimes.adapter import load_adapter
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.onnxruntime_calls import REFUSED, UNSUPPORTED
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
TEXTS_TO_FLOAT8 = make_case(
    "ai.onnx::Cast-21",
    [("input", tensor(np.array(["1"], dtype=object)))],
    {"to": ("int", 17)},
    Tensor(ELEMENT_TYPES["float8e4m3fn"], np.array([56], np.uint8)),
)
"""Its Python package makes no values of strings, and these are what travels beside types that numpy lacks."""


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["onnxruntime"]
    assert runtime.hello["runtime"] == {"name": "onnxruntime", "version": installed}
    assert runtime.hello["devices"] == ["CPU"]
    assert runtime.hello["x_settings"]["threads"] == 1


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    calls = (call for name, call in UNSUPPORTED.items() if name != "element type behind a conversion")
    assert_every_rule_is_met(ADAPTER, runtime, [*calls, TEXTS_TO_FLOAT8])


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    for case in REFUSED:
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


@pytest.mark.parametrize("element_type", ["int4", "uint4", "int2", "uint2", "float8e8m0"])
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 3)])
def test_elements_of_few_bits_are_read_and_written(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    """ONNX Runtime's own conversion says whether it was handed what was meant, and answered as it is read."""
    few = numbers(shape, element_type)
    kind = few.element_type
    wide = tensor((decode_floats(kind, few.array) if kind.is_float else few.array).astype(np.float32))
    for given, wanted in ((few, wide), (wide, few)):
        to = {"to": ("int", wanted.element_type.code)}
        (returned,) = runtime.call(make_case("ai.onnx::Cast-25", [("input", given)], to, wanted))
        assert returned == wanted


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("input_data", numbers((5,), "int64")), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::CenterCropPad-18", inputs), form)


def test_options_reach_the_session() -> None:
    with converse(ADAPTER, provider="CPU", optimization="none") as conversation:
        assert conversation.hello["x_settings"]["optimization"] == "none"
        assert_moved_unharmed(conversation, make_case("ai.onnx::Identity-19", [("X", numbers((2,)))]))


@pytest.mark.parametrize(
    ("provider", "said"),
    [("Abacus", r"no provider 'Abacus' here; offered: .*\bCPU$"), ("cpu", r"did you mean CPU\?$")],
)
def test_a_provider_that_is_not_there_is_refused(provider: str, said: str) -> None:
    with pytest.raises(RuntimeRefused, match=said):
        converse(ADAPTER, provider=provider)
