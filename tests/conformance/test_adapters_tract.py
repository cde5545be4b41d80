"""The adapter of tract against tract."""

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

pytestmark = pytest.mark.runtimes("tract")
ADAPTER = load_adapter("tract")


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["tract"]
    assert runtime.hello["runtime"] == {"name": "tract", "version": installed}
    assert runtime.hello["forms"][0] == "initializers"


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    line, pads, scale, zero = numbers((2,)), tensor([1, 1]), numbers((2,)), numbers((2,), "uint8")
    wide, square, planes = numbers((2,), "uint64"), numbers((2, 2)), numbers((1, 4, 2, 2))
    slicing = ("starts", "ends", "axes", "steps")
    to_float8, to_int2 = {"to": ("int", 17)}, {"to": ("int", 26)}
    cases: list[Case | tuple[Case, Form]] = [
        make_case("ai.onnx::CenterCropPad-18", [("input_data", line), ("shape", tensor([2]))]),
        make_case("com.microsoft::Pad-1", [("data", line), ("pads", pads)]),
        make_case("ai.onnx::QuantizeLinear-10", [("x", line), ("y_scale", numbers((1,)))], output=zero),
        make_case(
            "ai.onnx::QuantizeLinear-21",
            [("x", line), ("y_scale", scale), ("y_zero_point", zero)],
            {"block_size": ("int", 1)},
            zero,
        ),
        make_case(
            "ai.onnx::Dropout-13",
            [
                ("data", line),
                ("ratio", tensor(np.array(0.5, np.float32))),
                ("training_mode", tensor(np.array(True))),
            ],
        ),
        make_case(
            "ai.onnx::Multinomial-22",
            [("input", numbers((1, 2), "float16"))],
            output=numbers((1, 1), "int32"),
        ),
        make_case(
            "ai.onnx::MelWeightMatrix-17",
            [
                *(
                    (name, tensor(np.array(most)))
                    for name, most in (("num_mel_bins", 3), ("dft_length", 4), ("sample_rate", 8000))
                ),
                *(
                    (name, tensor(np.array(most, np.float32)))
                    for name, most in (("lower_edge_hertz", 0), ("upper_edge_hertz", 3900))
                ),
            ],
            output=numbers((3, 3)),
        ),
        _recurrence([2, 1], 2),
        (_recurrence([1, 1], 2), "initializers"),
        (
            make_case(
                "ai.onnx::DFT-20",
                [("input", numbers((1, 4, 2))), ("dft_length", None), ("axis", tensor(np.array(1)))],
            ),
            "dynamic",
        ),
        (
            make_case(
                "ai.onnx::STFT-17",
                [("signal", numbers((1, 4, 1))), ("frame_step", tensor(np.array(2))), ("window", line)],
                output=numbers((1, 2, 2, 2)),
            ),
            "inputs",
        ),
        (
            make_case(
                "ai.onnx::Multinomial-22",
                [("input", numbers((1, 2)))],
                output=numbers((1, 1), "int32"),
            ),
            "dynamic",
        ),
        (
            make_case(
                "ai.onnx::GRU-22",
                [
                    ("X", numbers((1, 1, 1), "double")),
                    *((name, numbers((1, 3, 1), "double")) for name in "WR"),
                    *((name, None) for name in ("B", "sequence_lens")),
                    ("initial_h", numbers((1, 1, 1), "double")),
                ],
                {"hidden_size": ("int", 1), "linear_before_reset": ("int", 1)},
                numbers((1, 1, 1, 1), "double"),
            ),
            "initializers",
        ),
        (
            make_case(
                "ai.onnx::DequantizeLinear-28",
                [("x", numbers((1,), "uint16")), ("x_scale", tensor(np.array(1, np.float32)))],
                output=numbers((1,)),
            ),
            "initializers",
        ),
        make_case("ai.onnx::Cast-19", [("X", line)], to_float8, numbers((2,), "float8e4m3fn")),
        make_case("ai.onnx::Cast-25", [("X", line)], to_int2, numbers((2,), "int2")),
        make_case("ai.onnx::Shape-15", [("X", line)], output=tensor([2])),
        make_case("ai.onnx::ReduceSum-13", [("data", wide)], output=numbers((1,), "uint64")),
        make_case("ai.onnx::HardSwish-14", [("X", numbers((2,), "double"))], output=numbers((2,), "double")),
        make_case(
            "ai.onnx.ml::LinearRegressor-1",
            [("X", square)],
            {"coefficients": ("floats", (1.0, 2.0)), "post_transform": ("string", "PROBIT")},
            numbers((2, 1)),
        ),
        make_case(
            "ai.onnx::Pad-19", [("data", line), ("pads", pads)], {"mode": ("string", "wrap")}, numbers((4,))
        ),
        make_case(
            "ai.onnx::Compress-11", [("input", line), ("condition", numbers((2,), "bool"))], output=scale
        ),
        make_case("ai.onnx::ConstantOfShape-9", [("input", pads)], output=numbers((1, 1))),
        make_case("ai.onnx::ReduceSum-13", [("data", line), ("axes", tensor([0]))]),
        make_case("ai.onnx::Slice-13", [("data", line), *((each, tensor([1])) for each in slicing)]),
        make_case(
            "ai.onnx::OneHot-11", [("indices", pads), ("depth", tensor([2])), ("values", line)], output=square
        ),
        (make_case("ai.onnx::DepthToSpace-13", [("input", planes)], {"blocksize": ("int", 2)}), "dynamic"),
        (make_case("ai.onnx::Flatten-13", [("input", square)]), "dynamic"),
        (make_case("ai.onnx::Gemm-13", [("A", square), ("B", square)]), "dynamic"),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def _recurrence(lengths: list[int], steps: int) -> Case:
    weights = [(name, numbers((1, 1, 1))) for name in "WR"]
    return make_case(
        "ai.onnx::RNN-22",
        [
            ("X", numbers((steps, len(lengths), 1))),
            *weights,
            ("B", None),
            ("sequence_lens", tensor(lengths, "int32")),
        ],
        {"hidden_size": ("int", 1)},
        numbers((steps, 1, len(lengths), 1)),
    )


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    scales = ("scales", tensor(np.array([1, 1], np.float32)))
    cases = [
        make_case("ai.onnx::Resize-18", [("X", numbers((2, 2))), ("roi", None), scales]),
        make_case("ai.onnx::Add-14", [("A", numbers((2,))), ("B", numbers((2,), "int32"))]),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
     "bool"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    zeros = ("B", tensor(np.zeros(5, np.float32)))
    assert_moved_unharmed(runtime, make_case("ai.onnx::Add-14", [("A", numbers((5,))), zeros]), form)
