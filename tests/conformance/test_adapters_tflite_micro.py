"""The adapter of TensorFlow Lite Micro against its Python package."""

from __future__ import annotations

import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from conformance.suite.cases import Case
from opcert.vocabulary.tensors import Tensor, tensor
from tests.commands.command_line import call
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    environment_of,
    numbers,
    refusal,
)

pytestmark = pytest.mark.runtimes("tflite-micro")
ADAPTER = load_adapter("tflite-micro")
LINE = tensor([1.0, 2.0, 4.0], "float")
ZERO = tensor(0, "int32")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["tflite-micro"]
    assert runtime.hello["runtime"] == {"name": "tflite-micro", "version": installed}


@pytest.mark.slow
def test_doctor_finds_a_case_beyond_the_default_suite(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "doctor", "tflite-micro")
    assert (answer.code, "FAILS" in answer.out) == (0, False), answer.out
    assert "a right answer passes (org.tensorflow::Abs-1)" in answer.out


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    half, none = numbers((2, 2), "float16"), numbers((0, 2))
    six = numbers((1, 1, 1, 1, 1, 2))
    choice = [("indices", tensor([1], "int32")), ("depth", tensor(2, "int32")), ("on", LINE), ("off", LINE)]
    calls = [
        (
            "OneHot",
            [(name, tensor(1.0, "float") if name in ("on", "off") else each) for name, each in choice],
        ),
        ("Add", [("x", numbers((2,), "int64")), ("y", numbers((2,), "int64"))]),
        ("GatherNd", [("params", numbers((2,), "int32")), ("indices", tensor([[0]], "int32"))]),
        ("Min", [("input", numbers((2,), "int32")), ("axis", ZERO)]),
        ("RealDiv", [("x", half), ("y", half)]),
        ("Cumsum", [("x", numbers((2,), "int32")), ("axis", ZERO)]),
        ("Sin", [("x", half)]),
        ("Add", [("x", numbers((2,), "int16")), ("y", numbers((3, 1), "int16"))]),
        ("Pad", [("input", six), ("paddings", tensor([[0, 1]] * 6, "int32"))]),
        ("BroadcastTo", [("input", six), ("shape", tensor([1, 1, 1, 1, 1, 2], "int32"))]),
        ("Add", [("x", none), ("y", numbers((1, 2)))]),
        ("Transpose", [("x", tensor(1.0, "float")), ("perm", numbers((0,), "int32"))]),
        ("ReverseV2", [("tensor", numbers((2, 1, 2))), ("axis", tensor([0, 2], "int32"))]),
        ("Squeeze", [("input", numbers((1, 2), "uint16"))]),
        ("Acos", [("x", LINE)]),
    ]
    cases: list[tuple[Case, Form]] = [
        (make_case(f"org.tensorflow::{name}-1", given), "initializers") for name, given in calls
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def test_an_error_says_what_was_printed(runtime: Conversation) -> None:
    inputs = [("input", numbers((2,), "int32")), ("paddings", tensor([[1, 0]], "int32"))]
    case = make_case("org.tensorflow::MirrorPad-1", inputs, {"mode": ("string", "REFLECT")})
    found = refusal(runtime, case, "initializers")
    assert "\nNode MIRROR_PAD (number 0) failed to invoke" in found.message
    assert ADAPTER.find_rule(found.kind, found.message, found.error_class) is None  # it does not say why


@pytest.mark.parametrize("element_type", ["float", "int8"])
@pytest.mark.parametrize("shape", [(3,), (2, 1, 3, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    order = tensor(list(range(len(shape))), "int64")
    case = make_case("org.tensorflow::Transpose-1", [("x", numbers(shape, element_type)), ("perm", order)])
    assert_moved_unharmed(runtime, case, "initializers")


def test_lengths_of_64_bits_are_read_right(runtime: Conversation) -> None:
    case = make_case("org.tensorflow::Pad-1", [("input", LINE), ("paddings", tensor([[1, 2]], "int64"))])
    assert runtime.call(case, "initializers") == [tensor([0.0, 1.0, 2.0, 4.0, 0.0, 0.0], "float")]


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "expected"),
    [
        ("Sum", [LINE, tensor(0, "int64")], {"keep_dims": ("int", 1)}, tensor([7.0], "float")),
        ("Greater", [LINE, tensor(2.0, "float")], {}, tensor([False, False, True])),
        ("Cumsum", [LINE, ZERO], {"exclusive": ("int", 1)}, tensor([0.0, 1.0, 3.0], "float")),
        (
            "MatMul",
            [tensor([[1.0, 2.0]], "float"), tensor([[3.0, 4.0], [5.0, 6.0]], "float")],
            {"transpose_b": ("int", 1)},
            tensor([[11.0, 17.0]], "float"),
        ),
    ],
)
def test_a_call_becomes_the_builtin_that_means_the_same(
    runtime: Conversation,
    operator: str,
    inputs: list[Tensor],
    attributes: dict[str, tuple[str, object]],
    expected: Tensor,
) -> None:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    case = make_case(f"org.tensorflow::{operator}-1", named, attributes)
    assert runtime.call(case, "initializers") == [expected]
