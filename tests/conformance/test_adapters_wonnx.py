"""The adapter of wonnx against wonnx, on the Vulkan driver that VK_ICD_FILENAMES names, or the system's."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import worker_command
from conformance.suite.cases import Case
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    converse,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("wonnx")
ADAPTER = load_adapter("wonnx")
IMAGE = numbers((1, 1, 2, 2))
DRIVER = os.environ.get("VK_ICD_FILENAMES", "")


@pytest.fixture(scope="module")
def runtime() -> Iterator[Conversation]:
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    options = {"driver": DRIVER} if DRIVER else {}
    try:
        conversation = Conversation(worker_command(ADAPTER, environment_of(ADAPTER)), options, libraries)
    except RuntimeRefused as error:
        if "No GPU found" not in error.message:
            raise
        pytest.skip("a Vulkan driver is absent")
    with conversation:
        yield conversation


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["wonnx"]
    assert runtime.hello["runtime"] == {"name": "wonnx", "version": installed}
    assert runtime.hello["x_settings"] == {"driver": DRIVER or "the system's"}


def test_without_a_driver_it_does_not_start() -> None:
    with pytest.raises(RuntimeRefused, match="No GPU found"):
        converse(ADAPTER, driver="/nonexistent/driver.json")


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    padded = [("data", IMAGE), ("pads", tensor([0] * 8)), ("constant_value", tensor(np.float32(1)))]
    cases: list[Case | tuple[Case, Form]] = [
        make_case("ai.onnx::Erf-13", [("X", IMAGE)]),
        make_case("ai.onnx::Cast-13", [("X", IMAGE)], {"to": ("int", 7)}, output=numbers((1,) * 4, "int64")),
        make_case("ai.onnx::Equal-13", [("A", IMAGE), ("B", IMAGE)], output=tensor([[[[True]]]])),
        make_case("com.microsoft::NoSuch-1", [("X", numbers(()))]),
        (make_case("ai.onnx::Pad-13", padded), "initializers"),
        make_case("ai.onnx::Identity-16", [("X", numbers((2,), "int64"))]),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    clipped = make_case("ai.onnx::Clip-13", [("input", IMAGE)])
    assert rule_of(ADAPTER, runtime, clipped) is None


@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7), (2, 1, 3, 1, 2)])
def test_floats_pass_unharmed(runtime: Conversation, shape: tuple[int, ...]) -> None:
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape))]))


@pytest.mark.parametrize("form", ["initializers", "inputs"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    one, two = tensor(np.array([1, 2], np.float32)), tensor(np.array([3, 4], np.float32))
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", one), ("B", two)]), form) == [
        tensor(np.array([4, 6], np.float32))
    ]


def test_an_output_has_the_shape_that_shape_inference_gives_it(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Transpose-13", [("X", numbers((2, 3)))], {"perm": ("ints", [1, 0])})
    assert runtime.call(case) == [tensor(numbers((2, 3)).array.T.copy())]


def test_a_shape_that_is_not_known_before_the_run_is_not_offered(runtime: Conversation) -> None:
    case = make_case("ai.onnx::NonZero-13", [("X", numbers((2,)))], output=tensor([[1]]))
    with pytest.raises(RuntimeRefused, match="no shapes that are known in the run") as caught:
        runtime.call(case)
    assert caught.value.error_class == "unsupported"
