"""Operators that another one's reference computes: each against a formula of NumPy, and wrong mappings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from generator.asking.named_operators import referenced_operators
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import reference_of
from specs.files.library import load_spec
from specs.model.spec import Spec

Array = NDArray[Any]
draw = np.random.default_rng(46)


def f(*shape: int, low: float = -3.0, high: float = 3.0) -> Array:
    return draw.uniform(low, high, shape).astype(np.float32)


def i(*values: Any) -> Array:
    return np.array(values[0] if len(values) == 1 else values, np.int64)


A, B, POSITIVE, IMAGE = f(2, 3, 4), f(3, 1), f(2, 3, low=1.0), f(2, 4, 4, 6)
WHOLE, OTHER = i([[7, -7, 5], [-5, 3, 8]]), i([2, -2, 3])
BITS, SHIFTS = np.array([1, 6, 200], np.uint8), np.array([3, 1, 2], np.uint8)
TRUE, FALSE = np.array([[True, False, True], [True, True, True]]), np.array([True, True, False])
X, H, C, W, R, BIAS = f(2, 3), f(2, 2), f(2, 2), f(8, 3), f(8, 2), f(8)
THIRD = np.float32(1 / 3).reshape(())
KEEP, DROP = {"keep_dims": 1}, {"keep_dims": 0}
NHWC, NCHW = {"data_format": "NHWC", "block_size": 2}, {"data_format": "NCHW", "block_size": 2}


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


erf = np.vectorize(math.erf, otypes=[np.float64])


def softmax(x: Array, axis: int) -> Array:
    raised = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis, keepdims=True))


def blocks_apart(image: Array, block: int, *, channels_first: bool) -> Array:
    """Depth to space of [N, H, W, C] in double loops; channels first counts a block inside of a channel."""
    n, h, w, c = image.shape
    found = np.zeros((n, h * block, w * block, c // block**2), image.dtype)
    for y, x, deep in np.ndindex(found.shape[1:]):
        inner = (y % block) * block + x % block
        at = deep * block**2 + inner if channels_first else inner * found.shape[3] + deep
        found[:, y, x, deep] = image[:, y // block, x // block, at]
    return found


def last(image: Array) -> Array:
    return image.transpose(0, 2, 3, 1)


def first(image: Array) -> Array:
    return image.transpose(0, 3, 1, 2)


def lstm() -> tuple[Array, Array]:
    gates = (X @ W.T + H @ R.T + BIAS).reshape(2, 4, 2)
    forget, put, cell, out = (gates[:, at] for at in range(4))
    state = sigmoid(forget) * C + sigmoid(put) * np.tanh(cell)
    return sigmoid(out) * np.tanh(state), state


def gru() -> Array:
    of_x, of_h = X @ W[:6].T + BIAS[:6], H @ R[:6].T
    z, r = sigmoid((of_x + of_h)[:, :2]), sigmoid((of_x + of_h)[:, 2:4])
    new = np.tanh(of_x[:, 4:] + (r * H) @ R[4:6].T)
    return np.asarray((1 - z) * new + z * H)


def response(image: Array, radius: int, bias: float, alpha: float, beta: float) -> Array:
    padded = np.pad(image.astype(np.float64) ** 2, ((0, 0), (0, 0), (0, 0), (radius, radius)))
    depth = image.shape[3]
    squares = np.stack([padded[..., at : at + 2 * radius + 1].sum(-1) for at in range(depth)], -1)
    return np.asarray(image / (bias + alpha * squares) ** beta)


IN_LINE = {"auto_broadcast": "numpy"}
OV: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], Any]] = {
    "Abs-1": ({}, {"input": A}, np.abs(A)),
    "Acosh-3": ({}, {"input": POSITIVE}, np.arccosh(POSITIVE)),
    "Asinh-3": ({}, {"input": A}, np.arcsinh(A)),
    "Atan-1": ({}, {"input": A}, np.arctan(A)),
    "Ceiling-1": ({}, {"input": A}, np.ceil(A)),
    "Cos-1": ({}, {"input": A}, np.cos(A)),
    "Floor-1": ({}, {"input": A}, np.floor(A)),
    "Negative-1": ({}, {"input": A}, -A),
    "Sign-1": ({}, {"input": A}, np.sign(A)),
    "Sinh-1": ({}, {"input": A}, np.sinh(A)),
    "Sqrt-1": ({}, {"input": POSITIVE}, np.sqrt(POSITIVE)),
    "Tan-1": ({}, {"input": A}, np.tan(A)),
    "Sigmoid-1": ({}, {"input": A}, sigmoid(A)),
    "LogicalNot-1": ({}, {"input": TRUE}, ~TRUE),
    "Mish-4": ({}, {"input": A}, A * np.tanh(np.log1p(np.exp(A)))),
    "HSwish-4": ({}, {"input": A}, A * np.clip(A + 3, 0, 6) / 6),
    "SoftPlus-4": ({}, {"input": A}, np.log1p(np.exp(A))),
    "Elu-1": ({"alpha": 0.5}, {"input": A}, np.where(A > 0, A, 0.5 * np.expm1(A))),
    "Gelu-2": ({}, {"input": A}, A * 0.5 * (1 + erf(A / math.sqrt(2)))),
    "Gelu-7": (
        {"approximation_mode": "tanh"},
        {"input": A},
        A / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (A + 0.044715 * A**3))),
    ),
    "Swish-4": ({}, {"data": A, "beta": np.float32(0.3).reshape(())}, A * sigmoid(np.float32(0.3) * A)),
    "Clamp-1": ({"min": -2.5, "max": 2.5}, {"input": WHOLE}, np.clip(WHOLE, -2, 2)),
    "PReLU-1": (
        {},
        {"data": A, "slope": np.array([0.5, 2, 4], np.float32)},
        np.where(A > 0, A, A * np.array([0.5, 2, 4], np.float32)[:, None]),
    ),
    "Round-5": ({}, {"input": A}, np.rint(A)),
    "Add-1": (IN_LINE, {"input": A, "input_2": B}, A + B),
    "Subtract-1": (IN_LINE, {"input": A, "input_2": B}, A - B),
    "Multiply-1": (IN_LINE, {"input": A, "input_2": B}, A * B),
    "Divide-1": (IN_LINE, {"input": A, "input_2": B}, A / B),
    "FloorMod-1": ({}, {"input": WHOLE, "input_2": OTHER}, WHOLE % OTHER),
    "Maximum-1": ({}, {"input": A, "input_2": B}, np.maximum(A, B)),
    "Minimum-1": ({}, {"input": A, "input_2": B}, np.minimum(A, B)),
    "Equal-1": ({}, {"input": WHOLE, "input_2": WHOLE[:1]}, WHOLE[:1] == WHOLE),
    "NotEqual-1": ({}, {"input": WHOLE, "input_2": WHOLE[:1]}, WHOLE[:1] != WHOLE),
    "Greater-1": ({}, {"input": A, "input_2": B}, A > B),
    "LessEqual-1": ({}, {"input": WHOLE, "input_2": WHOLE[:1]}, WHOLE[:1] >= WHOLE),
    "LogicalAnd-1": ({}, {"input": TRUE, "input_2": FALSE}, TRUE & FALSE),
    "LogicalXor-1": ({}, {"input": TRUE, "input_2": FALSE}, TRUE ^ FALSE),
    "ReduceL1-4": (KEEP, {"data": A, "axes": i([0, -1])}, np.abs(A).sum((0, 2), keepdims=True)),
    "ReduceMean-1": (DROP, {"data": A, "axes": i(1)}, A.mean(1)),
    "ReduceMin-1": ({}, {"data": A, "axes": i([1])}, A.min(1)),
    "ReduceSum-1": ({}, {"data": A, "axes": i([])}, A),
    "ReduceLogicalAnd-1": ({}, {"data": TRUE, "axes": i([1])}, TRUE.all(1)),
    "ReduceLogicalOr-1": (KEEP, {"data": ~TRUE, "axes": i([1])}, (~TRUE).any(1, keepdims=True)),
    "SoftMax-8": ({}, {"input": A}, softmax(A, 1)),
    "Transpose-1": ({}, {"arg": A, "input_order": i([2, 0, 1])}, A.transpose(2, 0, 1)),
    "Unsqueeze-1": ({}, {"input": A, "input_2": i([0, -1])}, A[None, ..., None]),
    "Concat-1": ({"axis": 1}, {"inputs": (A, A[:, :1])}, np.concatenate([A, A[:, :1]], 1)),
    "GatherElements-6": (
        {"axis": 1},
        {"input": A[0], "input_2": i([[0, 3], [1, 1], [2, 0]])},
        np.take_along_axis(A[0], i([[0, 3], [1, 1], [2, 0]]), 1),
    ),
    "GatherND-5": ({"batch_dims": 1}, {"data": A, "indices": i([[2], [0]])}, A[[0, 1], [2, 0]]),
    "ConvertLike-1": ({}, {"data": A, "like": i([1])}, np.trunc(A).astype(np.int64)),
    "ROIAlign-9": (
        {
            "pooled_h": 1,
            "pooled_w": 1,
            "sampling_ratio": 1,
            "spatial_scale": 1.0,
            "mode": "avg",
            "aligned_mode": "half_pixel_for_nn",
        },
        {"input": IMAGE, "input_2": np.array([[0, 0, 2, 2]], np.float32), "input_3": i([1])},
        IMAGE[1:, :, :2, :2].mean((2, 3), keepdims=True),
    ),
    "CumSum-3": ({"exclusive": 1}, {"input": WHOLE}, np.cumsum(WHOLE, 0) - WHOLE),
    "NonZero-3": ({"output_type": "i32"}, {"input": TRUE}, np.array(np.nonzero(TRUE), np.int32)),
    "ShapeOf-3": ({}, {"input": A}, i([2, 3, 4])),
    "Split-1": ({"num_splits": 2}, {"data": A, "axis": i(-1)}, tuple(np.split(A, 2, -1))),
    "Pad-1": (
        {"pad_mode": "reflect"},
        {"data": A[0], "pads_begin": i([1, 0]), "pads_end": i([0, 2])},
        np.pad(A[0], ((1, 0), (0, 2)), mode="reflect"),
    ),
    "Reverse-1": ({"mode": "index"}, {"data": A, "axis": i([0, 2])}, A[::-1, :, ::-1]),
    "BatchNormInference-5": (
        {"epsilon": 0.5},
        {"data": A, "gamma": B[:, 0], "beta": B[:, 0] * 2, "mean": B[:, 0] * 3, "variance": B[:, 0] ** 2},
        (A - B * 3) / np.sqrt(B**2 + 0.5) * B + B * 2,
    ),
    "Broadcast-1": ({}, {"data": B, "taget_shape": i([2, 3, 4])}, np.broadcast_to(B, (2, 3, 4))),
    "DepthToSpace-1": (
        {"block_size": 2, "mode": "depth_first"},
        {"data": IMAGE},
        first(blocks_apart(last(IMAGE), 2, channels_first=True)),
    ),
    "Einsum-7": ({"equation": "abc,dc->bad"}, {"inputs": (A, A[0])}, np.einsum("abc,dc->bad", A, A[0])),
    "LSTMCell-1": (
        {"hidden_size": 2},
        {"X": X, "initial_hidden_state": H, "initial_cell_state": C, "W": W, "R": R, "B": BIAS},
        lstm(),
    ),
    "GRUCell-3": (
        {"hidden_size": 2},
        {"X": X, "initial_hidden_state": H, "W": W[:6], "R": R[:6], "B": BIAS[:6]},
        gru(),
    ),
    "RNNCell-3": (
        {"hidden_size": 2},
        {"X": X, "H": H, "W": W[:2], "R": R[:2], "B": BIAS[:2]},
        np.tanh(X @ W[:2].T + H @ R[:2].T + BIAS[:2]),
    ),
    "HardSigmoid-1": ({}, {"input": A, "alpha": THIRD, "beta": THIRD}, np.clip(THIRD * A + THIRD, 0, 1)),
    "Select-1": ({}, {"cond": FALSE, "then": A[..., :3], "else": B}, np.where(FALSE, A[..., :3], B)),
    "Selu-1": (
        {},
        {"data": A, "alpha": THIRD.reshape(1), "lambda": np.array([-2.5], np.float32)},
        -2.5 * np.where(A > 0, A, THIRD * np.expm1(A)),
    ),
    "VariadicSplit-1": (
        {},
        {"data": A, "axis": i(-1), "split_lengths": i([1, 0, 3])},
        (A[..., :1], A[..., 1:1], A[..., 1:]),
    ),
}
TF: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any], Any]] = {
    "Abs": ({}, {"x": A}, np.abs(A)),
    "Acos": ({}, {"x": A / 3}, np.arccos(A / 3)),
    "Asinh": ({}, {"x": A}, np.arcsinh(A)),
    "Atanh": ({}, {"x": A / 4}, np.arctanh(A / 4)),
    "Ceil": ({}, {"x": A}, np.ceil(A)),
    "Cosh": ({}, {"x": A}, np.cosh(A)),
    "Elu": ({}, {"features": A}, np.where(A > 0, A, np.expm1(A))),
    "Exp": ({}, {"x": A}, np.exp(A)),
    "IsInf": ({}, {"x": np.array([1, -np.inf, np.nan], np.float32)}, np.array([False, True, False])),
    "Log": ({}, {"x": POSITIVE}, np.log(POSITIVE)),
    "LogicalNot": ({}, {"x": TRUE}, ~TRUE),
    "LogSoftmax": ({}, {"logits": A[0]}, np.log(softmax(A[0], 1))),
    "Neg": ({}, {"x": A}, -A),
    "Reciprocal": ({}, {"x": POSITIVE}, 1 / POSITIVE),
    "Relu": ({}, {"features": A}, np.maximum(A, 0)),
    "Round": ({}, {"x": A}, np.rint(A)),
    "Sigmoid": ({}, {"x": A}, sigmoid(A)),
    "Sign": ({}, {"x": A}, np.sign(A)),
    "Sin": ({}, {"x": A}, np.sin(A)),
    "Tan": ({}, {"x": A}, np.tan(A)),
    "LeakyRelu": ({}, {"features": A}, np.where(A > 0, A, np.float32(0.2) * A)),
    "Identity": ({}, {"input": A}, A),
    "Snapshot": ({}, {"input": A}, A),
    "StopGradient": ({}, {"input": A}, A),
    "Square": ({}, {"x": A}, A * A),
    "Add": ({}, {"x": A, "y": B}, A + B),
    "AddV2": ({}, {"x": A, "y": B}, A + B),
    "Maximum": ({}, {"x": A, "y": B}, np.maximum(A, B)),
    "Mul": ({}, {"x": A, "y": B}, A * B),
    "RealDiv": ({}, {"x": A, "y": B}, A / B),
    "FloorMod": ({}, {"x": WHOLE, "y": OTHER}, WHOLE % OTHER),
    "TruncateDiv": ({}, {"x": WHOLE, "y": OTHER}, np.trunc(WHOLE / OTHER).astype(np.int64)),
    "Greater": ({}, {"x": A, "y": B}, A > B),
    "LessEqual": ({}, {"x": WHOLE, "y": WHOLE[:1]}, WHOLE[:1] >= WHOLE),
    "Equal": ({}, {"x": WHOLE, "y": WHOLE[:1]}, WHOLE[:1] == WHOLE),
    "LogicalOr": ({}, {"x": TRUE, "y": FALSE}, TRUE | FALSE),
    "BitwiseAnd": ({}, {"x": WHOLE, "y": OTHER}, WHOLE & OTHER),
    "BitwiseOr": ({}, {"x": WHOLE, "y": OTHER}, WHOLE | OTHER),
    "LeftShift": ({}, {"x": BITS, "y": SHIFTS}, BITS << SHIFTS),
    "RightShift": ({}, {"x": BITS, "y": SHIFTS}, BITS >> SHIFTS),
    "Sum": ({}, {"input": A, "axis": i([])}, A),
    "Prod": (KEEP, {"input": A, "axis": i([0, -1])}, A.prod((0, 2), keepdims=True)),
    "Min": (DROP, {"input": A, "axis": i(1)}, A.min(1)),
    "All": ({}, {"input": TRUE, "axis": i([1])}, TRUE.all(1)),
    "Any": ({}, {"input": ~TRUE, "axis": i([1])}, (~TRUE).any(1)),
    "MatMul": ({"transpose_a": 1, "transpose_b": 1}, {"a": A[0].T, "b": A[1]}, A[0] @ A[1].T),
    "BatchMatMulV2": ({"adj_y": 1}, {"x": A, "y": A[:1]}, A @ A[:1].transpose(0, 2, 1)),
    "BiasAdd": ({"data_format": "NCHW"}, {"value": A, "bias": B[:, 0]}, A + B),
    "ReverseV2": ({}, {"tensor": A, "axis": i([0, 2])}, A[::-1, :, ::-1]),
    "Transpose": ({}, {"x": A, "perm": i([2, 0, 1])}, A.transpose(2, 0, 1)),
    "Tile": ({}, {"input": A, "multiples": i([1, 2, 3])}, np.tile(A, (1, 2, 3))),
    "ExpandDims": ({}, {"input": A, "axis": i(-1)}, A[..., None]),
    "Squeeze": ({}, {"input": A[:, :1, :1]}, A[:, 0, 0]),
    "GatherNd": ({}, {"params": A, "indices": i([[1, 2], [0, 0]])}, A[[1, 0], [2, 0]]),
    "TensorScatterSub": (
        {},
        {"tensor": WHOLE, "indices": i([[1], [0], [1]]), "updates": i([OTHER, OTHER * 2, OTHER * 3])},
        WHOLE - i([OTHER * 2, OTHER * 4]),
    ),
    "OneHot": (
        {"axis": 0},
        {"indices": i([2, 0, 5]), "depth": np.int32(3).reshape(()), "on_value": i(7), "off_value": i(-1)},
        i([[-1, 7, -1], [-1, -1, -1], [7, -1, -1]]),
    ),
    "BroadcastTo": ({}, {"input": B, "shape": i([2, 3, 4])}, np.broadcast_to(B, (2, 3, 4))),
    "Cumsum": ({"reverse": 1}, {"x": WHOLE, "axis": i(-1)}, np.cumsum(WHOLE[:, ::-1], 1)[:, ::-1]),
    "Cumprod": ({}, {"x": WHOLE, "axis": i(0)}, np.cumprod(WHOLE, 0)),
    "DepthToSpace": (NHWC, {"input": last(IMAGE)}, blocks_apart(last(IMAGE), 2, channels_first=False)),
    "SpaceToDepth": (NCHW, {"input": first(blocks_apart(last(IMAGE), 2, channels_first=False))}, IMAGE),
    "ClipByValue": (
        {},
        {"t": A, "clip_value_min": np.float32(-1).reshape(()), "clip_value_max": np.float32(2).reshape(())},
        np.clip(A, -1, 2),
    ),
    "Einsum": ({"equation": "abc,dc->bad"}, {"inputs": (A, A[0])}, np.einsum("abc,dc->bad", A, A[0])),
    "Range": ({}, {"start": i(2), "limit": i(9), "delta": i(3)}, i([2, 5, 8])),
    "Pad": ({}, {"input": A[0], "paddings": i([[1, 0], [0, 2]])}, np.pad(A[0], ((1, 0), (0, 2)))),
    "MirrorPad": (
        {"mode": "REFLECT"},
        {"input": A[0], "paddings": i([[1, 0], [0, 2]])},
        np.pad(A[0], ((1, 0), (0, 2)), mode="reflect"),
    ),
    "LRN": (
        {"depth_radius": 1, "alpha": 0.5, "bias": 2.0, "beta": 0.75},
        {"input": IMAGE},
        response(IMAGE, 1, 2.0, 0.5, 0.75),
    ),
}
CALLS = {
    **{f"org.openvino::{name}": call for name, call in OV.items()},
    **{f"org.tensorflow::{name}-1": call for name, call in TF.items()},
}
UNASKED = {
    "absent_bounds": "both bounds are always given",
    "alpha_of_body": "of ONNX's function body",
    "constants_of_body": "of ONNX's function body",
    "defaults": "both coefficients are always given",
    "column_major": "of an output that is not asked for",
    "complex_infinities": "no complex numbers are asked about",
    "infinity_to_fnuz": "of types that none of them has",
    **dict.fromkeys(("greatest_of", "torus"), "of a mode that no call has"),
    **dict.fromkeys(("absent_peepholes", "coupled_gate", "clipped_cell"), "of what no call gives"),
    **dict.fromkeys(("at_threshold", "numbers_of_functions"), "of functions that no call names"),
}
"""Readings of the other operator that no call of these leaves open, and why."""


@pytest.mark.parametrize("name", CALLS)
def test_each_gives_what_its_formula_gives(name: str) -> None:
    attributes, inputs, expected = CALLS[name]
    given: dict[str, Any] = {
        each: tuple(map(tensor, array)) if isinstance(array, tuple) else tensor(array)
        for each, array in inputs.items()
    }
    arrays = expected(*inputs.values()) if callable(expected) else expected
    several = arrays if isinstance(arrays, tuple) else (arrays,)
    found = reference_of(load_spec(OperatorName.parse(name))).evaluate(
        attributes, given, outputs=len(several)
    )
    assert len(found) >= len(several)
    for answer, array in zip(found, several, strict=False):
        own = answer.expected.array
        assert own.shape == array.shape
        assert own.dtype.kind == array.dtype.kind
        np.testing.assert_allclose(own, array, rtol=2e-5, atol=2e-6)


def _translated() -> list[OperatorName]:
    return [operator for operator in referenced_operators() if load_spec(operator).same_as is not None]


def test_each_has_a_formula_and_states_what_the_other_one_leaves_open() -> None:
    operators = _translated()
    assert sorted(map(str, operators)) == sorted(CALLS)
    for operator in operators:
        spec = load_spec(operator)
        known = {name: set(each) for name, each in reference_of(spec).readings.items()}
        stated = {each.id: set(each.options) for each in spec.readings}
        assert stated.keys() <= known.keys(), operator
        for name, options in known.items():
            assert name in UNASKED or stated.get(name) == options, (operator, name)


def test_every_input_of_theirs_has_types() -> None:
    for spec in map(load_spec, _translated()):
        assert {each.type for each in spec.inputs} <= {*ELEMENT_TYPES, *spec.type_constraints}, spec.operator


def test_softplus_may_be_x_itself_from_its_threshold_on() -> None:
    spec = load_spec(OperatorName.parse("org.openvino::SoftPlus-4"))
    assert "double" not in spec.type_constraints["T"].types
    x = np.array([14, 15.5, 20, 30, 60], np.float32)
    (answer,) = reference_of(spec).evaluate({}, {"input": tensor(x)})
    assert (np.abs(answer.expected.array - x) <= np.asarray(answer.allowed, np.float64)).all()


def test_roll_shifts_each_axis_as_often_as_it_is_named() -> None:
    given = {"data": tensor(A), "shift": tensor(i([1, 2, 1])), "axes": tensor(i([0, -1, 0]))}
    (answer,) = reference_of(load_spec(OperatorName.parse("org.openvino::Roll-7"))).evaluate({}, given)
    np.testing.assert_array_equal(answer.expected.array, np.roll(A, (2, 2), (0, 2)))


def test_grn_divides_by_the_root_of_the_squares_of_all_channels() -> None:
    spec = load_spec(OperatorName.parse("org.openvino::GRN-1"))
    (answer,) = reference_of(spec).evaluate({"bias": 0.5}, {"data": tensor(IMAGE)})
    exact, allowed = answer.expected.array.astype(np.float64), np.asarray(answer.allowed, np.float64)
    image, squares = IMAGE.astype(np.float64), IMAGE.astype(np.float64) ** 2
    np.testing.assert_allclose(exact, image / np.sqrt(squares.sum(1, keepdims=True) + 0.5), rtol=1e-7)
    root = np.sqrt((IMAGE * IMAGE).sum(1, keepdims=True) + np.float32(0.5))
    for honest in (IMAGE / root, IMAGE * (1 / root)):
        assert (np.abs(honest - exact) <= allowed).all()
    totals = (
        squares.sum(1, keepdims=True),
        squares.sum(2, keepdims=True) + 0.5,
        squares.mean(1, keepdims=True) + 0.5,
    )
    for faulty in totals:
        assert (np.abs(image / np.sqrt(faulty) - exact) > allowed).all()


def _with(**changed: Any) -> Spec:
    spec = load_spec(OperatorName.parse("org.openvino::Elu-1"))
    assert spec.same_as is not None
    return replace(spec, same_as=replace(spec.same_as, **changed))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (_with(arguments={"beta": "alpha"}), "no such parameter"),
        (_with(arguments={"alpha": "1 +"}), "not an expression"),
        (_with(operator=OperatorName.parse("ai.onnx::Relu-14")), "an attribute that goes nowhere"),
        (_with(operator=OperatorName.parse("ai.onnx::Nothing-1")), "operator without a reference"),
        (_with(arguments={"X": "input", "alpha": "alpha + missing"}), "unknown name"),
    ],
)
def test_what_does_not_fit_is_told(spec: Spec, told: str) -> None:
    with pytest.raises(UserError, match=told):
        reference_of(spec).evaluate({"alpha": 1.0}, {"input": tensor(A)})


def test_a_folder_of_ones_own_may_name_an_operator_that_ships(tmp_path: Path) -> None:
    room = tmp_path / "org.openvino" / "Elu"
    room.mkdir(parents=True)
    shipped = Path(__file__).parents[2] / "specs" / "org.openvino" / "Elu"
    (room / "imported-1.yaml").write_bytes((shipped / "imported-1.yaml").read_bytes())
    (room / "spec.yaml").write_text("same_as: ai.onnx::LeakyRelu-16\nkinds: {alpha: real()}\n")
    spec = load_spec(OperatorName.parse("org.openvino::Elu-1"), [tmp_path])
    (answer,) = reference_of(spec).evaluate({"alpha": 0.5}, {"input": tensor(A)})
    np.testing.assert_allclose(answer.expected.array, np.where(A > 0, A, A / 2), rtol=1e-6)
    (room / "spec.yaml").write_text("arguments: {alpha: '1'}\n")
    with pytest.raises(UserError, match="said of no other operator"):
        load_spec(OperatorName.parse("org.openvino::Elu-1"), [tmp_path])
