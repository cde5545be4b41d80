"""The adapter of jaxlib against jaxlib: modules of StableHLO with one operator of ONNX."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("jaxlib")
ADAPTER = load_adapter("jaxlib")
GRID = tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
LINE = tensor(np.array([4, 1, 1], np.float32))


def floats(values: object) -> Tensor:
    return tensor(np.array(values, np.float32))


CALLS: list[tuple[str, list[Tensor], dict[str, tuple[str, object]], Tensor]] = [
    ("Mod-13", [floats([-3, 3]), floats([2, -2])], {"fmod": ("int", 1)}, floats([-1, 1])),
    ("Clip-13", [GRID, floats(2), floats(1)], {}, floats([[1] * 3] * 2)),
    ("Max-13", [LINE, floats([0, 2, 0]), floats(1)], {}, floats([4, 2, 1])),
    ("Where-16", [tensor([True, False, True]), LINE, GRID], {}, floats([[4, 1, 1], [4, 4, 1]])),
    ("IsNaN-13", [floats([np.nan, 1])], {}, tensor([True, False])),
    ("GreaterOrEqual-16", [LINE, floats(1)], {}, tensor([True] * 3)),
    ("Cast-13", [tensor([3, 0], "int8")], {"to": ("int", 1)}, floats([3, 0])),
    ("MatMul-13", [GRID, LINE], {}, floats([3, 21])),
    ("MatMul-13", [floats([[[1, 2]]]), floats([[[3], [4]], [[5], [6]]])], {}, floats([[[11]], [[17]]])),
    ("ReduceSum-13", [GRID, tensor([-1])], {"keepdims": ("int", 0)}, floats([3, 12])),
    ("ReduceMax-20", [numbers((0, 2)), tensor([0])], {}, floats([[-np.inf] * 2])),
    ("ReduceMin-20", [tensor([True, False])], {}, tensor([False])),
    ("Transpose-13", [GRID], {"perm": ("ints", [1, 0])}, floats([[0, 3], [1, 4], [2, 5]])),
    ("Reshape-14", [GRID, tensor([0, 1, -1])], {}, floats([[[0, 1, 2]], [[3, 4, 5]]])),
    ("Concat-13", [GRID, GRID], {"axis": ("int", -1)}, floats([[0, 1, 2] * 2, [3, 4, 5] * 2])),
    ("Slice-13", [GRID, tensor([-1]), tensor([9]), tensor([0])], {}, floats([[3, 4, 5]])),
    ("Slice-13", [LINE, tensor([0]), tensor([3]), tensor([0]), tensor([2])], {}, floats([4, 1])),
    ("Pad-13", [LINE, tensor([1, -2]), floats(7)], {}, floats([7, 4])),
    ("Gather-13", [GRID, tensor([[-1, 0]])], {"axis": ("int", 1)}, floats([[[2, 0]], [[5, 3]]])),
    ("Expand-13", [LINE, tensor([2, 1])], {}, floats([[4, 1, 1]] * 2)),
    ("Unsqueeze-13", [LINE, tensor([-1, 0])], {}, floats([[[4], [1], [1]]])),
    (
        "Conv-22",
        [floats([[[1, 2, 3], [4, 5, 6]]]), floats([[[1, 1]], [[1, -1]]]), floats([10, 20])],
        {"group": ("int", 2), "pads": ("ints", [1, 0]), "strides": ("ints", [2])},
        floats([[[11, 15], [16, 19]]]),
    ),
]  # fmt: skip
"""Calls of ONNX's, and what they come to."""


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages
    assert runtime.hello["runtime"] == {"name": "jaxlib", "version": installed["jaxlib"]}
    assert runtime.hello["domains"] == {"ai.onnx": "node"}
    assert runtime.hello["x_settings"] == {"jax": installed["jax"], "dialect": "stablehlo"}


def test_what_stablehlo_has_not_or_leaves_open_is_not_offered(runtime: Conversation) -> None:
    assert_every_rule_is_met(ADAPTER, runtime, [make_case("ai.onnx::LSTM-14", [("X", GRID)])])
    whole = tensor([7, 0])
    for case in (
        make_case("ai.onnx::Div-14", [("A", whole), ("B", whole)]),
        make_case("ai.onnx::Cast-13", [("input", GRID)], {"to": ("int", 7)}, output=numbers((2, 3), "int64")),
        make_case("ai.onnx::Exp-13", [("X", GRID)]),
        make_case("ai.onnx::Add-14", [("A", GRID), ("B", numbers((2,)))]),
        make_case("ai.onnx::Relu-14", [("X", GRID)], {"slope": ("int", 1)}),
        make_case("ai.onnx::Gather-13", [("data", GRID), ("indices", tensor([9]))]),
        make_case("ai.onnx::Gather-13", [("data", numbers((0, 2))), ("indices", numbers((0,), "int64"))]),
        make_case("ai.onnx::Squeeze-13", [("data", numbers((0, 3))), ("axes", tensor([1]))]),
        # What older versions take for an error.
        make_case("ai.onnx::Gather-1", [("data", GRID), ("indices", tensor([-1]))]),
        make_case("ai.onnx::Squeeze-1", [("data", numbers((2, 1)))], {"axes": ("ints", [-1])}),
        make_case("ai.onnx::Flatten-9", [("input", GRID)], {"axis": ("int", -1)}),
        make_case("ai.onnx::Sum-6", [("a", GRID), ("b", LINE)]),
    ):
        assert rule_of(ADAPTER, runtime, case, "initializers") is ADAPTER.unsupported[0]


@pytest.mark.parametrize(
    "element_type", ["float", "double", "float16", "bfloat16", "int8", "uint16", "int32", "uint64", "bool"]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert_moved_unharmed(
        runtime, make_case("ai.onnx::Identity-16", [("input", numbers(shape, element_type))])
    )


@pytest.mark.parametrize("form", ["initializers", "inputs"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    assert runtime.call(make_case("ai.onnx::Add-14", [("A", GRID), ("B", LINE)]), form) == [
        floats([[4, 2, 3], [7, 5, 6]])
    ]


@pytest.mark.parametrize(("operator", "inputs", "attributes", "expected"), CALLS)
def test_a_call_becomes_the_operation_that_means_the_same(
    runtime: Conversation,
    operator: str,
    inputs: list[Tensor],
    attributes: dict[str, tuple[str, object]],
    expected: Tensor,
) -> None:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    case = make_case(f"ai.onnx::{operator}", named, attributes, output=expected)
    assert runtime.call(case, "initializers") == [expected]
