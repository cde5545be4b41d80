"""The adapter of Apache TVM against Apache TVM."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import FORMS, Form
from conformance.runtimes.adapter import load_adapter
from conformance.suite.cases import Case
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("apache-tvm")
ADAPTER = load_adapter("apache-tvm")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["apache-tvm"]
    assert runtime.hello["runtime"] == {"name": "apache-tvm", "version": installed}
    assert runtime.hello["forms"][0] == "initializers"


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    line, solid, zero = numbers((2,)), numbers((1,) * 6), numbers((2,), "uint8")
    many = {"kernel_shape": ("ints", [1, 1, 1, 1])}
    depth, values = tensor(np.array(2)), tensor([0, 1])
    cases: list[Case | tuple[Case, Form]] = [
        make_case("com.microsoft::NoSuch-1", [("X", line)]),
        make_case("ai.onnx::AveragePool-22", [("X", solid)], many),
        make_case("ai.onnx::Conv-22", [("X", solid), ("W", solid)]),
        (
            make_case(
                "ai.onnx::QuantizeLinear-21",
                [("x", line), ("y_scale", line), ("y_zero_point", zero)],
                {"block_size": ("int", 1)},
                zero,
            ),
            "initializers",
        ),
        make_case("ai.onnx::TopK-11", [("X", line), ("K", tensor([1]))]),
        make_case("ai.onnx::OneHot-11", [("indices", tensor([1])), ("depth", depth), ("values", values)]),
        make_case("ai.onnx::LRN-13", [("X", numbers((1,) * 5))], {"size": ("int", 1)}),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    case = make_case("ai.onnx::Transpose-13", [("X", numbers((2, 2)))], {"perm": ("ints", [0, 5])})
    assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "bfloat16", "int8", "int64", "uint8", "uint64", "bool", "float8e5m2"],
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3, 1, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-19", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    one = tensor(np.array([1, 2], np.float32))
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", one)]), form)
