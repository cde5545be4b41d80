"""The adapter of TensorFlow.js against TensorFlow.js: graphs of one operator, through its converter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    converse,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("tfjs")
ADAPTER = load_adapter("tfjs")
FOUR, TWO = tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)), tensor([2], "int32")
BLOCKS = {"block_size": ("int", 2)}
NONE = [("crops", tensor([[0, 0]], "int32"))]


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["@tensorflow/tfjs"]
    assert runtime.hello["runtime"] == {"name": "tfjs", "version": installed}
    assert runtime.hello["x_settings"] == {"backend": "cpu"}


def test_an_option_that_it_does_not_know_is_refused() -> None:
    with pytest.raises(RuntimeRefused, match="no option is known here"):
        converse(ADAPTER, speed="high")


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    square = numbers((2, 2))
    cases = [
        make_case("org.tensorflow::TensorScatterSub-1", [("tensor", square)]),
        make_case("org.tensorflow::DepthToSpace-1", [("input", numbers((1, 1, 1, 4), "int32"))], BLOCKS),
        make_case(
            "org.tensorflow::BatchToSpaceND-1",
            [("input", numbers((2, 1), "complex64")), ("block_shape", TWO), *NONE],
        ),
        make_case(
            "org.tensorflow::DepthToSpace-1",
            [("input", numbers((1, 4, 1, 1)))],
            {**BLOCKS, "data_format": ("string", "NCHW")},
        ),
        make_case("org.tensorflow::Einsum-1", [("inputs", square)], {"equation": ("string", "...i->...")}),
        make_case("org.tensorflow::Einsum-1", [("inputs", square)], {"equation": ("string", "ii->i")}),
        make_case("org.tensorflow::Cast-1", [("x", square)], {"DstT": ("type", "tensor(int64)")}),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    square, line = numbers((2, 2)), numbers((3,))
    assert rule_of(ADAPTER, runtime, make_case("org.tensorflow::Add-1", [("x", square), ("y", line)])) is None


@pytest.mark.parametrize("element_type", ["float", "int32", "bool", "complex64", "string"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    case = make_case("org.tensorflow::Identity-1", [("input", numbers(shape, element_type))])
    assert_moved_unharmed(runtime, case)


@pytest.mark.parametrize("form", ["inputs", "dynamic", "again"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    inputs = [("tensor", numbers((3,))), ("shape", tensor([3], "int32"))]
    assert_moved_unharmed(runtime, make_case("org.tensorflow::Reshape-1", inputs), form)


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "expected"),
    [
        # Defaults that a graph of TensorFlow's always has, and the types that come with its inputs.
        ("DepthToSpace", [FOUR], BLOCKS, tensor(np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1))),
        ("LeakyRelu", [tensor([-3.3330746], "float")], {}, tensor([-0.66661495], "float")),
        ("Range", [tensor(each, "int32") for each in (0, 4, 2)], {}, tensor([0, 2], "int32")),
        (
            "OneHot",
            [tensor([1], "int32"), tensor(2, "int32"), tensor(True), tensor(False)],
            {},
            tensor([[False, True]]),
        ),
        # A boolean of TensorFlow's is an integer in a case.
        (
            "Sum",
            [tensor([1.0, 2.0], "float"), tensor([0], "int32")],
            {"keep_dims": ("int", 1)},
            tensor([3.0], "float"),
        ),
        (
            "Sum",
            [tensor([1.0, 2.0], "float"), tensor([0], "int32")],
            {"keep_dims": ("int", 0)},
            tensor(3.0, "float"),
        ),
        # It knows the shape of the result only when it runs.
        ("Where", [tensor([False, True])], {}, tensor([[1]], "int32")),
    ],
)
def test_a_call_becomes_the_graph_that_tensorflow_would_write(
    runtime: Conversation,
    operator: str,
    inputs: list[Tensor],
    attributes: dict[str, tuple[str, object]],
    expected: Tensor,
) -> None:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    assert runtime.call(make_case(f"org.tensorflow::{operator}-1", named, attributes)) == [expected]


def test_every_output_of_an_operator_is_returned(runtime: Conversation) -> None:
    case = make_case(
        "org.tensorflow::TopKV2-1", [("input", tensor([1.0, 3.0, 2.0], "float")), ("k", tensor(2, "int32"))]
    )
    assert runtime.call(replace(case, output_names=("values", "indices"))) == [
        tensor([3.0, 2.0], "float"),
        tensor([1, 2], "int32"),
    ]


def test_a_tensor_without_its_elements_is_shown_as_none(runtime: Conversation) -> None:
    case = make_case(
        "org.tensorflow::Cumsum-1", [("x", tensor([1.0, 2.0], "float")), ("axis", tensor(-1, "int32"))]
    )
    assert runtime.call(case) == ["Tensor"]  # of the shape [NaN], which no answer can have
