"""The adapter of onnx2torch against onnx2torch and PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import assert_moved_unharmed, environment_of, numbers, rule_of

pytestmark = pytest.mark.runtimes("onnx2torch")
ADAPTER = load_adapter("onnx2torch")
ROW = numbers((1, 2))


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages
    assert runtime.hello["runtime"] == {"name": "onnx2torch", "version": installed["onnx2torch"]}
    assert runtime.hello["x_settings"]["torch"].partition("+")[0] == installed["torch"].partition("+")[0]


def test_what_it_says_that_it_lacks_is_not_offered(runtime: Conversation) -> None:
    halves = numbers((2,), "bfloat16")
    turned = {"mode": ("string", "reflect")}
    padded = make_case("ai.onnx::Pad-13", [("data", numbers((5,))), ("pads", tensor([0, 2]))], turned)
    lacking = [
        rule_of(ADAPTER, runtime, make_case("com.microsoft::NoSuch-1", [("X", ROW)])),
        rule_of(
            ADAPTER, runtime, make_case("ai.onnx::Add-14", [("A", halves), ("B", halves)]), "initializers"
        ),
        rule_of(ADAPTER, runtime, padded, "initializers"),
    ]
    assert lacking == list(ADAPTER.unsupported[:3])


def test_integers_without_a_kernel_are_not_offered(runtime: Conversation) -> None:
    case = make_case("ai.onnx::ReduceMean-13", [("data", numbers((2,), "int32"))])
    assert rule_of(ADAPTER, runtime, case, "initializers") is ADAPTER.unsupported[4]


def test_operators_of_torchvision_are_no_fault_of_its_own(runtime: Conversation) -> None:
    boxes = [("boxes", numbers((1, 2, 4))), ("scores", numbers((1, 1, 2)))]
    case = make_case(
        "ai.onnx::NonMaxSuppression-11", [*boxes, ("max", tensor([1]))], output=tensor([[0] * 3])
    )
    try:
        assert runtime.call(case, "inputs") == [tensor([[0, 0, 1]])]
    except Exception:  # noqa: BLE001 - whether its library loads depends on the processor
        assert rule_of(ADAPTER, runtime, case) is ADAPTER.unsupported[3]


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Flatten-13", [("input", ROW)], {"axis": ("int", 0)})
    assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type", ["float", "float16", "bfloat16", "uint16", "int64", "complex64", "bool"]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", ["initializers", "inputs", "dynamic", "again", "untouched"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    one, two = tensor(np.array([[1, 2]], np.float32)), tensor(np.array([[3, 4]], np.float32))
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", one), ("B", two)]), form) == [
        tensor(np.array([[4, 6]], np.float32))
    ]


def test_nothing_is_trained(runtime: Conversation) -> None:
    norms = [(name, tensor(np.array([each], np.float32))) for name, each in (("scale", 1), ("B", 0))]
    norms += [
        ("input_mean", tensor(np.array([5], np.float32))),
        ("input_var", tensor(np.array([1], np.float32))),
    ]
    case = make_case(
        "ai.onnx::BatchNormalization-15",
        [("X", tensor(np.array([[[5, 5]]], np.float32))), *norms],
        {"epsilon": ("float", 0.0)},
    )
    assert runtime.call(case, "initializers") == [tensor(np.zeros((1, 1, 2), np.float32))]
