"""Calls that every build of ONNX Runtime refuses, in whichever language it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from onnx import ModelProto

from conformance.models.case_models import build_model
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import make_case
from tests.conformance.runtime_checks import numbers
from tests.conformance.structured_cases import mapped


def _scales(*values: float) -> tuple[str, Tensor]:
    return ("scales", tensor(np.array(values, np.float32)))


_SQUARE, _LINE = numbers((2, 2)), numbers((2,))
_BYTE, _FILTERS = numbers((1, 1, 1, 1), "uint8"), numbers((2, 1, 1, 1), "uint8")
_ROI = tensor(np.array([0, 0, 1, 1], np.float16))


def _of_the_future(case: Case) -> Case:
    """The case with its model in an IR version that no runtime knows yet."""
    model = ModelProto.FromString(build_model(case))
    model.ir_version = 999
    return replace(case, model=model.SerializeToString())


_HALVES = numbers((2,), "float16")
_FLOAT8 = Tensor(ELEMENT_TYPES["float8e4m3fn"], np.array([1], np.uint8))
UNSUPPORTED: Mapping[str, Case] = {
    "element type": make_case(
        "ai.onnx::Resize-18", [("X", numbers((2, 2), "int16")), ("roi", None), _scales(1, 1)]
    ),
    "element type behind a conversion": make_case(
        "ai.onnx::Resize-18", [("X", numbers((2, 2), "int64")), ("roi", _ROI), _scales(1, 1)]
    ),
    "operator": make_case("ai.onnx::Foo-18", [("X", _LINE)]),
    "operator of another domain": make_case("com.microsoft::Foo-1", [("X", _LINE)]),
    "complex": make_case("ai.onnx::Identity-16", [("X", numbers((2,), "complex64"))]),
    "operator set": make_case("ai.onnx::Abs-99", [("X", _LINE)]),
    "rank": make_case(
        "ai.onnx::Resize-18", [("X", _LINE), ("roi", None), _scales(2)], {"mode": ("string", "cubic")}
    ),
    "antialias": make_case(
        "ai.onnx::Resize-18", [("X", _SQUARE), ("roi", None), _scales(1, 1)], {"antialias": ("int", 1)}
    ),
    "excluded locations": make_case(
        "ai.onnx::Resize-18",
        [("X", _SQUARE), ("roi", None), _scales(1, 1)],
        {"exclude_outside": ("int", 1), "mode": ("string", "linear")},
    ),
    "angles in a contrib kernel": make_case(
        "com.microsoft::Attention-1",
        [("input", numbers((1, 1, 32))), ("weights", numbers((32, 96))), ("bias", numbers((96,)))],
        {"num_heads": ("int", 1), "do_rotary": ("int", 1)},
        numbers((1, 1, 32)),
    ),
    "packed keys": make_case(
        "com.microsoft::MultiHeadAttention-1",
        [("query", numbers((1, 1, 2))), ("key", numbers((1, 1, 1, 2, 2)))],
        {"num_heads": ("int", 1)},
        numbers((1, 1, 2)),
    ),
    "experts": make_case(
        "com.microsoft::MoE-1",
        [
            *(("input", numbers((1, 2))), ("router_probs", numbers((1, 1)))),
            *(("fc1_experts_weights", numbers((1, 4, 2))), ("fc1_experts_bias", None)),
            ("fc2_experts_weights", numbers((1, 2, 2))),
        ],
        {"activation_type": ("string", "swiglu"), "k": ("int", 1), "swiglu_fusion": ("int", 0)},
        numbers((1, 2)),
    ),
    "IR version": _of_the_future(make_case("ai.onnx::Abs-13", [("X", _LINE)])),
    "layout": make_case(
        "ai.onnx::RNN-22",
        [(name, numbers((1, 1, 1))) for name in "XWR"],
        {"layout": ("int", 1), "hidden_size": ("int", 1)},
        numbers((1, 1, 1, 1)),
    ),
    "quantization": make_case(
        "ai.onnx::ConvInteger-10",
        [("x", _BYTE), ("w", _FILTERS), ("x_zero_point", None), ("w_zero_point", numbers((2,), "uint8"))],
        output=numbers((1, 2, 1, 1), "int32"),
    ),
    "value of a type": make_case(
        "ai.onnx::ConstantOfShape-20",
        [("input", tensor([2]))],
        {"value": ("tensor", _FLOAT8)},
        output=_FLOAT8,
    ),
    "reduction in a type": make_case(
        "ai.onnx::ScatterND-16",
        [("data", _HALVES), ("indices", tensor([[0], [0]])), ("updates", _HALVES)],
        {"reduction": ("string", "add")},
    ),
    "dilations beside SAME": make_case(
        "ai.onnx::Conv-11",
        [("X", numbers((1, 1, 5, 5))), ("W", numbers((1, 1, 2, 2)))],
        {"auto_pad": ("string", "SAME_UPPER"), "dilations": ("ints", [2, 2])},
        numbers((1, 1, 5, 5)),
    ),
    "no channels to pool": make_case(
        "ai.onnx::MaxPool-12",
        [("X", numbers((2, 0, 3, 7), "uint8"))],
        {"kernel_shape": ("ints", [2, 2])},
        numbers((2, 0, 2, 6), "uint8"),
    ),
    "no channels to fold": make_case(
        "ai.onnx::Col2Im-18",
        [("input", numbers((1, 0, 4))), ("image_shape", tensor([5, 1])), ("block_shape", tensor([2, 1]))],
        output=numbers((1, 0, 5, 1)),
    ),
    "axes to pool": make_case(
        "ai.onnx::GlobalMaxPool-1", [("X", numbers((1, 1, 1, 1, 1, 2)))], output=numbers((1, 1, 1, 1, 1, 1))
    ),
    "doubles in a recurrence": make_case(
        "ai.onnx::GRU-22",
        [("X", numbers((1, 1, 1), "double")), *((name, numbers((1, 3, 1), "double")) for name in "WR")],
        {"hidden_size": ("int", 1)},
        numbers((1, 1, 1, 1), "double"),
    ),
    "angles as wide as the data": make_case(
        "ai.onnx::RotaryEmbedding-23",
        [
            ("X", numbers((1, 2, 4))),
            *((name, numbers((1, 1))) for name in ("cos_cache", "sin_cache")),
            ("position_ids", tensor([[0, 0]])),
        ],
        {"num_heads": ("int", 1), "rotary_embedding_dim": ("int", 2)},
    ),
    "one axis to sample": make_case(
        "ai.onnx::GridSample-22",
        [("X", numbers((1, 1, 1))), ("grid", numbers((1, 2, 1)))],
        {},
        numbers((1, 1, 2)),
    ),
    "three axes to sample by cubics": make_case(
        "ai.onnx::GridSample-22",
        [("X", numbers((1, 1, 2, 2, 2))), ("grid", numbers((1, 1, 1, 1, 3)))],
        {"mode": ("string", "cubic")},
        numbers((1, 1, 1, 1, 1)),
    ),
    "one axis to deform": make_case(
        "ai.onnx::DeformConv-22",
        [("X", numbers((1, 1, 3))), ("W", numbers((1, 1, 3))), ("offset", numbers((1, 3, 1)))],
        {"kernel_shape": ("ints", [3])},
        numbers((1, 1, 1)),
    ),
    "zero points by row": make_case(
        "ai.onnx::MatMulInteger-10",
        [
            *((name, numbers((2, 2), "uint8")) for name in "AB"),
            *((name, numbers((2,), "uint8")) for name in ("a_zero_point", "b_zero_point")),
        ],
        output=numbers((2, 2), "int32"),
    ),
    "string": make_case("ai.onnx::Identity-16", [("X", tensor(np.array([b"\xff"], np.object_)))]),
    "map to double": mapped(np.float64),
}
"""Calls of what it says that it does not offer."""

REFUSED = (
    make_case("ai.onnx::Resize-18", [("X", _SQUARE), ("roi", None), _scales(1)]),
    make_case("ai.onnx::Resize-18", [("X", _SQUARE), ("roi", None), _scales(1, -1)]),
    make_case("ai.onnx::Resize-18", [("X", _SQUARE)]),
    make_case(
        "ai.onnx::Resize-18",
        [("X", _SQUARE), ("roi", tensor(np.array([0, 0, 1, 1], np.float64))), _scales(1, 1)],
        {"coordinate_transformation_mode": ("string", "tf_crop_and_resize"), "mode": ("string", "linear")},
    ),
    make_case(
        "ai.onnx::Resize-18",
        [("X", numbers((2, 2), "uint8")), ("roi", None), _scales(1, 2)],
        {"mode": ("string", "cubic")},
    ),
    make_case("ai.onnx::CenterCropPad-18", [("input_data", _SQUARE), ("shape", tensor([2, 2], "int32"))]),
    make_case("com.microsoft::Pad-1", [("data", numbers((2,), "uint8")), ("pads", tensor([1, 1]))]),
)
"""Calls that it refuses without saying that it does not offer something."""
