"""The adapter of TensorFlow against TensorFlow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.runtimes.adapter import load_adapter
from conformance.suite.cases import Case
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("tensorflow")
ADAPTER = load_adapter("tensorflow")


def _blocks(
    data: Tensor, block: Tensor | None = None, crops: Tensor | None = None, **attributes: tuple[str, object]
) -> Case:
    inputs = [
        ("input", data),
        ("block_shape", block or tensor([1, 1], "int32")),
        ("crops", crops or tensor([[0, 0], [0, 0]], "int32")),
    ]
    return make_case("org.tensorflow::BatchToSpaceND-1", inputs, attributes)


@pytest.mark.slow
def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["tensorflow-cpu"]
    assert runtime.hello["runtime"] == {"name": "tensorflow", "version": installed}


@pytest.mark.slow
def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    image = numbers((1, 1, 1, 1))
    channels_first = {
        "strides": ("ints", [1, 1, 1, 1]),
        "padding": ("string", "VALID"),
        "data_format": ("string", "NCHW"),
    }
    cases = [
        _blocks(numbers((1, 1, 1), "string")),
        make_case("org.tensorflow::Conv2D-1", [("input", image), ("filter", image)], channels_first),
        make_case(
            "org.tensorflow::AvgPool-1", [("value", image)], {"ksize": ("ints", [1] * 4), **channels_first}
        ),
        make_case("org.tensorflow::Foo-1", [("x", image)]),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    data = numbers((4, 1, 1))
    cases = [
        _blocks(data, block=tensor([0, 1], "int32")),
        _blocks(data, block=tensor([1, 1], "int8")),
        _blocks(data, crops=tensor([[-1, 0], [0, 0]], "int32")),
        _blocks(data, block=tensor([[1, 1]], "int32")),
        _blocks(data, nothing=("int", 1)),
        make_case("org.tensorflow::BatchToSpaceND-1", [("input", data)]),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
     "uint64", "bool", "string", "complex64", "complex128", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
     "float8e5m2fnuz", "int4", "uint4"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    case = make_case("org.tensorflow::Identity-1", [("input", numbers(shape, element_type))])
    assert_moved_unharmed(runtime, case)


def test_an_operator_is_called_with_the_types_of_the_case(runtime: Conversation) -> None:
    case = _blocks(numbers((2, 1, 1)), tensor([1, 1], "int64"), tensor([[0, 0], [0, 0]], "int64"))
    assert_moved_unharmed(runtime, case)


def test_every_output_of_an_operator_is_returned(runtime: Conversation) -> None:
    case = make_case("org.tensorflow::Unique-1", [("x", tensor([1, 1, 2], "int32"))])
    assert runtime.call(case) == [tensor([1, 2], "int32"), tensor([0, 0, 1], "int32")]


TWO, ONE, SCALAR, FIRST = tensor([1.0, 2.0]), tensor([3.0]), tensor(3.0), tensor(0, "int32")
JOINED = [1.0, 2.0, 3.0, 1.0, 2.0]
EQUATION = {"equation": ("string", "i,i->i")}


@pytest.mark.parametrize(
    ("operator", "attributes", "given", "slots", "expected"),
    [
        ("Sub", {}, [TWO], "x0 y0", [0.0, 0.0]),
        ("ClipByValue", {}, [TWO, SCALAR], "t0 clip_value_min1 clip_value_max1", [3.0, 3.0]),
        ("Einsum", EQUATION, [TWO], "inputs0 inputs0", [1.0, 4.0]),
        ("ConcatV2", {}, [TWO, ONE, FIRST], "values0 values1 values0 axis2", JOINED),
    ],
)
def test_a_tensor_that_is_given_twice_is_both_arguments(
    runtime: Conversation,
    operator: str,
    attributes: dict[str, tuple[str, object]],
    given: list[Tensor],
    slots: str,
    expected: list[float],
) -> None:
    wanted = tuple(Slot(each[:-1], (int(each[-1]),)) for each in slots.split())
    names = {slot.parts[0]: slot.name for slot in reversed(wanted)}
    inputs = [(names[at], each) for at, each in enumerate(given)]
    case = make_case(f"org.tensorflow::{operator}-1", inputs, attributes)
    assert runtime.call(replace(case, slots=wanted)) == [tensor(expected)]
