"""The workers of jaxlib and onnx2torch on fakes of these, which compute with numpy what they are told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import WORKERS
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.runtime_checks import assert_moved_unharmed, numbers
from tests.conformance.test_adapters_jaxlib import CALLS, GRID, LINE, floats

FAKES = Path(__file__).parent / "fakes" / "fake_packages"


def converse(worker: str) -> Iterator[Conversation]:
    command = [sys.executable, str(WORKERS / worker)]
    with Conversation(command, environment={"PYTHONPATH": str(FAKES)}) as conversation:
        yield conversation


@pytest.fixture(scope="module")
def jaxlib() -> Iterator[Conversation]:
    yield from converse("jaxlib_worker.py")


@pytest.mark.parametrize(("operator", "inputs", "attributes", "expected"), CALLS)
def test_the_stablehlo_of_a_call_computes_what_it_means(
    jaxlib: Conversation,
    operator: str,
    inputs: list[Tensor],
    attributes: dict[str, tuple[str, object]],
    expected: Tensor,
) -> None:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    case = make_case(f"ai.onnx::{operator}", named, attributes, output=expected)
    assert jaxlib.call(case, "initializers") == [expected]


@pytest.mark.parametrize(
    ("operator", "inputs", "expected"),
    [
        ("Sub-14", [LINE, floats([1, 2, 3])], floats([3, -1, -2])),
        ("Div-14", [LINE, floats([2, 4, 8])], floats([2, 0.25, 0.125])),
        ("Mul-14", [GRID, LINE], floats([[0, 1, 2], [12, 4, 5]])),
        ("Less-13", [LINE, floats([9, 1, 0])], tensor([True, False, False])),
        ("LessOrEqual-16", [LINE, floats([9, 1, 0])], tensor([True, True, False])),
        ("Greater-13", [LINE, floats([9, 1, 0])], tensor([False, False, True])),
        ("Equal-13", [LINE, floats([9, 1, 0])], tensor([False, True, False])),
        ("Min-13", [LINE, floats([2, 0, 3])], floats([2, 0, 1])),
        ("Neg-13", [floats([1, -2])], floats([-1, 2])),
        ("Reciprocal-13", [floats([4])], floats([0.25])),
        ("Round-11", [floats([0.5, 1.5, -0.6])], floats([0, 2, -1])),
        ("ReduceProd-13", [floats([[2, 3], [4, 5]])], floats([[120]])),
        ("Relu-14", [floats([-1, 2])], floats([0, 2])),
        ("Flatten-13", [GRID], GRID),
        ("Xor-7", [tensor([True, True]), tensor([True, False])], tensor([False, True])),
    ],
)
def test_further_operators_are_no_others(
    jaxlib: Conversation, operator: str, inputs: list[Tensor], expected: Tensor
) -> None:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    assert jaxlib.call(make_case(f"ai.onnx::{operator}", named, output=expected), "inputs") == [expected]


def test_what_has_no_stablehlo_is_not_offered_by_jaxlib(jaxlib: Conversation) -> None:
    with pytest.raises(RuntimeRefused, match="StableHLO has no operation that is LSTM"):
        jaxlib.call(make_case("ai.onnx::LSTM-14", [("X", GRID)]))


@pytest.fixture(scope="module")
def onnx2torch() -> Iterator[Conversation]:
    yield from converse("onnx2torch_worker.py")


def test_onnx2torch_says_what_it_is(onnx2torch: Conversation) -> None:
    assert onnx2torch.hello["runtime"] == {"name": "onnx2torch", "version": "0"}
    assert onnx2torch.hello["x_settings"] == {"torch": "0"}


@pytest.mark.parametrize(
    "element_type", ["float", "bfloat16", "double", "bool", "uint8", "int64", "complex64"]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3)])
def test_element_types_pass_onnx2torch_unharmed(
    onnx2torch: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    given = numbers(shape, element_type)
    assert_moved_unharmed(onnx2torch, make_case("ai.onnx::Identity-16", [("input", given)]))


@pytest.mark.parametrize("form", ["initializers", "inputs"])
def test_inputs_keep_their_order_in_onnx2torch(onnx2torch: Conversation, form: Form) -> None:
    case = make_case("ai.onnx::Sub-14", [("A", LINE), ("B", floats([1, 2, 3]))])
    assert onnx2torch.call(case, form) == [floats([3, -1, -2])]


def test_several_outputs_and_what_is_no_tensor_are_told_of_onnx2torch(onnx2torch: Conversation) -> None:
    split = make_case("ai.onnx::Split-13", [("input", floats([1, 2, 3]))])
    case = replace(split, output_names=("Y", "Z"))
    assert onnx2torch.call(case) == [floats([1]), floats([2, 3])]
    assert onnx2torch.call(make_case("ai.onnx::Relu-14", [("X", LINE)])) == ["str"]
