"""The adapter of OpenVINO against OpenVINO."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conformance.models.case_models import FORMS, Form
from conformance.runtimes.adapter import load_adapter
from conformance.runtimes.runtimes import worker_command
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("openvino")
ADAPTER = load_adapter("openvino")


_PATCHES = {
    "sizes": ("ints", [1, 1]),
    "strides": ("ints", [1, 1]),
    "rates": ("ints", [1, 1]),
    "auto_pad": ("string", "valid"),
}


def _patches(image: Tensor, **changed: tuple[str, object]) -> Case:
    return make_case("org.openvino::ExtractImagePatches-3", [("image", image)], {**_PATCHES, **changed})


def _resize(
    data: Tensor, *scales: float, roi: Tensor | None = None, **attributes: tuple[str, object]
) -> Case:
    held = tensor(np.array(scales, np.float32))
    return make_case("ai.onnx::Resize-13", [("X", data), ("roi", roi), ("scales", held)], attributes)


def _of_regions(kind: str) -> Case:
    inputs = [("X", numbers((1, 1, 2, 2), kind)), ("rois", numbers((1, 5), kind))]
    return make_case(
        "ai.onnx::MaxRoiPool-22",
        inputs,
        {"pooled_shape": ("ints", [1, 1])},
        output=numbers((1, 1, 1, 1), kind),
    )


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["openvino"]
    assert runtime.hello["runtime"] == {"name": "openvino", "version": installed}
    assert runtime.hello["x_settings"]["INFERENCE_PRECISION_HINT"] == "f32"
    assert runtime.hello["x_settings"]["EXECUTION_MODE_HINT"] == "ACCURACY"


def test_every_rule_of_the_table_is_what_it_says(runtime: Conversation) -> None:
    cube = numbers((1, 1, 1, 1, 1), "int32")
    roi = tensor(np.array([0, 0, 1, 1], np.float32))
    crop = ("string", "tf_crop_and_resize")
    text = tensor(np.array([b"a\0"], np.object_))
    unknown = Tensor(ELEMENT_TYPES["float8e4m3fnuz"], np.array([], np.uint8))
    line, words, none = numbers((2,)), numbers((2,), "string"), tensor(np.array(0, np.float32))
    half, yes = tensor(np.array(0.5, np.float32)), tensor(np.array(True))
    training = make_case("ai.onnx::Dropout-13", [("data", line), ("ratio", half), ("training_mode", yes)])
    whole = make_case("ai.onnx::ReduceSum-13", [("data", line), ("axes", tensor([0]))], output=numbers((1,)))
    best = make_case("ai.onnx::TopK-11", [("X", line), ("K", tensor([1]))], output=numbers((1,)))
    boxes = [("boxes", numbers((1, 1, 4), "double")), ("scores", numbers((1, 1, 1), "double"))]
    cases: list[Case | tuple[Case, Form]] = [
        make_case("org.openvino::Unheard-1", [("data", line), ("slope", line)]),
        make_case("org.openvino::NonMaxSuppression-9", boxes, output=numbers((1, 3), "int64")),
        make_case("ai.onnx::StringNormalizer-10", [("X", numbers((1,), "string"))]),
        make_case("ai.onnx::Identity-16", [("X", numbers((1,), "complex64"))]),
        make_case("ai.onnx::CenterCropPad-18", [("input_data", words), ("shape", tensor([2]))]),
        _patches(numbers((1, 1, 1, 1), "string")),
        _resize(cube, 1, 1, 1, 1, 2, mode=("string", "cubic")),
        _resize(numbers((2, 2)), 1, 1, roi=roi, coordinate_transformation_mode=crop),
        _resize(numbers((1, 1, 2, 2)), 2, 1, 1, 1),
        _resize(numbers((1, 1, 1, 1), "int16"), 1, 1, 1, 1),
        make_case("ai.onnx::Unsqueeze-13", [("data", line), ("axes", tensor([0]))], output=numbers((1, 2))),
        make_case(
            "ai.onnx::GridSample-20", [("X", numbers((1, 1, 1, 1, 1))), ("grid", numbers((1, 1, 1, 1, 3)))]
        ),
        make_case(
            "ai.onnx::Pad-19", [("data", line), ("pads", tensor([1, 1]))], {"mode": ("string", "wrap")}
        ),
        make_case(
            "ai.onnx::Dropout-13",
            [("data", line), ("ratio", none), ("training_mode", tensor(np.array(True)))],
        ),
        (training, "initializers"),
        (whole, "dynamic"),
        (best, "dynamic"),
        _of_regions("bfloat16"),
        make_case("ai.onnx::Equal-19", [("A", words), ("B", words)], output=tensor([True, False])),
        make_case("ai.onnx::Tile-13", [("input", words), ("repeats", tensor([2]))]),
        make_case("ai.onnx::Constant-25", [], {"value": ("tensor", unknown)}, output=unknown),
        make_case("ai.onnx::Mod-13", [("A", line), ("B", line)]),
        make_case("ai.onnx::Shrink-9", [("input", line)], {"lambd": ("float", -1.5)}),
        _stft(numbers((1, 4, 1))),
        (_stft(numbers((1, 4, 1))), "dynamic"),
        (make_case("ai.onnx::GlobalLpPool-22", [("X", numbers((2, 1, 2, 2)))]), "dynamic"),
        (_turned(numbers((1, 1, 2))), "dynamic"),
        _blocked(numbers((1, 4), "int32"), numbers((1, 2)), 3),
        (_blocked(numbers((1, 4), "float8e4m3fn"), numbers((1, 2)), 2), "dynamic"),
        make_case("ai.onnx::DFT-20", [("input", numbers((1, 4, 2), "double"))]),
        make_case(
            "ai.onnx::MaxPool-22", [("X", numbers((1, 1, 1, 1, 1, 1)))], {"kernel_shape": ("ints", [1] * 4)}
        ),
        make_case(
            "ai.onnx::DFT-20",
            [("input", numbers((1, 1), "bfloat16")), ("dft_length", tensor(np.array(15, np.int32)))],
            {"onesided": ("int", 1)},
            numbers((8, 2), "bfloat16"),
        ),
        make_case(
            "ai.onnx::Pad-25",
            [
                ("data", numbers((1, 3, 2), "string")),
                ("pads", tensor([-1, 0, 0, 1, 0, 0])),
                ("constant_value", tensor(np.array(b"same", np.object_))),
                ("axes", tensor([1, 2, 0], "int32")),
            ],
            {"mode": ("string", "reflect")},
        ),
        make_case("ai.onnx::Identity-16", [("X", text)]),
    ]
    assert_every_rule_is_met(ADAPTER, runtime, cases)


def _stft(signal: Tensor) -> Case:
    sizes = [("frame_step", tensor(np.array(2, np.int32))), ("window", None)]
    length = ("frame_length", tensor(np.array(1, np.int32)))
    return make_case(
        "ai.onnx::STFT-17",
        [("signal", signal), *sizes, length],
        {"onesided": ("int", 0)},
        numbers((1, 2, 1, 2)),
    )


def _turned(given: Tensor) -> Case:
    caches = [(name, numbers((1, 1))) for name in ("cos_cache", "sin_cache")]
    return make_case(
        "ai.onnx::RotaryEmbedding-23",
        [("X", given), *caches, ("position_ids", tensor([[0]]))],
        {"num_heads": ("int", 1)},
    )


def _blocked(given: Tensor, scale: Tensor, size: int) -> Case:
    return make_case(
        "ai.onnx::DequantizeLinear-21",
        [("x", given), ("x_scale", scale)],
        {"axis": ("int", 1), "block_size": ("int", size)},
        numbers((1, 4)),
    )


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    cases = [
        _patches(numbers((1, 3, 3))),
        _patches(numbers((1, 1, 3, 3)), sizes=("ints", [0, 1])),
        _patches(numbers((1, 1, 3, 3)), auto_pad=("string", "sideways")),
        make_case("ai.onnx::CenterCropPad-18", [("input_data", numbers(())), ("shape", tensor([], "int64"))]),
    ]
    for case in cases:
        assert rule_of(ADAPTER, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "bfloat16", "int8", "int16", "int32", "uint8", "uint16", "uint32",
     "uint64", "bool", "float8e4m3fn", "float8e5m2", "int4", "uint4", "float8e8m0", "float4e2m1"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", numbers(shape, element_type))]))


def test_int64_passes_unharmed_in_the_range_that_it_computes_in(runtime: Conversation) -> None:
    # The plugin of the CPU computes int64 in int32: beyond its range the worker must not hide what comes out.
    kept = tensor([[-(1 << 31), (1 << 31) - 1], [0, -1]], "int64")
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-16", [("X", kept)]))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken_by_its_own_operators(runtime: Conversation, form: Form) -> None:
    assert_moved_unharmed(runtime, _patches(numbers((2, 3, 4, 5))), form)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken_by_onnx_models(runtime: Conversation, form: Form) -> None:
    inputs = [("input_data", numbers((5,))), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::CenterCropPad-18", inputs), form)


def test_it_reports_to_nobody(tmp_path: Path) -> None:
    command = worker_command(ADAPTER, environment_of(ADAPTER))
    with Conversation(command, environment={"HOME": str(tmp_path)}) as conversation:
        assert_moved_unharmed(conversation, _patches(numbers((2, 3, 4, 5))))
        assert not list(tmp_path.iterdir())
        assert not conversation.children()


def test_an_error_that_comes_up_with_the_shapes_is_not_lost(runtime: Conversation) -> None:
    case = _resize(numbers((1, 1, 2, 2)), 2, 1, 1, 1)
    rule = rule_of(ADAPTER, runtime, case)
    assert rule is not None
    assert "only supports resize" in rule.message


def test_an_input_that_is_an_output_as_well_is_given_its_value(runtime: Conversation) -> None:
    # Dropout is gone after conversion, its ratio with it, and its input has the output's name.
    ratio = ("ratio", tensor(np.array(0.25, np.float32)))
    assert_moved_unharmed(runtime, make_case("ai.onnx::Dropout-13", [("data", numbers((3, 4))), ratio]))


def test_names_that_its_specifications_spell_otherwise_are_known(runtime: Conversation) -> None:
    line = tensor(np.array([[-2.0, 3.0]], np.float32))
    slope = tensor(np.array([0.5, 2.0], np.float32))
    sloped = runtime.call(make_case("org.openvino::PReLU-1", [("data", line), ("slope", slope)]))
    assert sloped == [tensor(np.array([[-1.0, 3.0]], np.float32))]
    (found,) = runtime.call(make_case("org.openvino::SoftMax-8", [("input", line)], {"axis": ("int", 0)}))
    assert found == tensor(np.ones((1, 2), np.float32))


def test_one_tensor_may_be_two_inputs(runtime: Conversation) -> None:
    line = make_case("org.openvino::Multiply-1", [("input", tensor(np.array([-2.0, 3.0], np.float32)))])
    squared = replace(line, slots=(Slot("input", (0,)), Slot("input_2", (0,))))
    assert runtime.call(squared) == [tensor(np.array([4.0, 9.0], np.float32))]


def test_a_node_of_as_many_outputs_as_an_open_extent_says_is_not_offered(runtime: Conversation) -> None:
    given = [("data", numbers((4,))), ("axis", tensor(np.array(0))), ("split_lengths", tensor([4]))]
    whole = make_case("org.openvino::VariadicSplit-1", given, output=numbers((4,)))
    assert runtime.call(whole) == [numbers((4,))]
    with pytest.raises(RuntimeRefused, match="the number of outputs of VariadicSplit") as told:
        runtime.call(whole, "dynamic")
    assert told.value.error_class == "unsupported"
