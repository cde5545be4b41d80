"""Operators between DequantizeLinear and QuantizeLinear at the sizes of integer kernels.

Scales, zero points and data are those of `quantising`: with data `ties` many results are halves, with data
`real` scales are any numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Weaver, integers
from generator.models.neighbours.patterns.quantising import OUT_ZERO, Quantiser, range_of


def _conv(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 6, 6, step=8)
    q.summed(q.w.node("Conv", x, q.weights(33, 17, 3, 3), pads=[1, 1, 1, 1]), 153)


def _conv_channels(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 7, 7, step=8)
    bias = q.bias_of_channels(33, 153)
    q.summed(
        q.w.node("Conv", x, q.weights(33, 17, 3, 3, axis=0), bias, strides=[2, 2], pads=[1, 0, 0, 1]), 153
    )


def _conv_pointwise(q: Quantiser) -> None:
    x = q.given("x", 1, 65, 5, 5, step=8)
    q.summed(q.w.node("Conv", x, q.weights(17, 65, 1, 1, axis=0)), 65)


def _conv_depthwise(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 6, 6, step=8)
    y = q.w.node("Conv", x, q.weights(17, 1, 3, 3), q.bias(17, 9), group=17, pads=[1, 1, 1, 1])
    q.summed(y, 9)


def _conv_weight_zero(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 5, 5, step=8)
    zero = 129 if q.kind == "uint8" else -9
    weights = q.weights(17, 17, 3, 3, kind=q.kind, zero=zero)
    q.summed(q.w.node("Conv", x, weights, q.bias(17, 153), pads=[1, 1, 1, 1]), 153)


def _conv_relu(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 5, 5, step=8)
    y = q.w.node("Conv", x, q.weights(17, 17, 3, 3, axis=0), q.bias_of_channels(17, 153), pads=[1] * 4)
    q.summed(q.w.node("Relu", y), 153)


def _conv_clip(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 5, 5, step=8)
    y = q.w.node("Conv", x, q.weights(17, 17, 3, 3), q.bias(17, 153), pads=[1] * 4)
    step = 2048 if q.data == "ties" else 0.24
    limits = np.array(-20.25 * step, np.float32), np.array(60.25 * step, np.float32)
    q.summed(q.w.node("Clip", y, *limits), 153)


def _conv_transpose_behind(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 5, 5, step=8)
    y = q.w.node("Conv", x, q.weights(5, 17, 3, 3), q.bias(5, 153), pads=[1] * 4)
    q.summed(q.w.node("Transpose", y, perm=[0, 2, 3, 1]), 153)


def _gemm(q: Quantiser) -> None:
    x = q.given("x", 5, 65, step=8)
    y = q.w.node("Gemm", x, q.weights(33, 65, axis=0), q.bias_of_channels(33, 65), transB=1)
    q.summed(y, 65)


def _gemm_factors(q: Quantiser) -> None:
    x = q.given("x", 17, 9, step=8)
    y = q.w.node("Gemm", x, q.weights(17, 33), q.bias(33, 17), alpha=0.5, beta=2.0, transA=1)
    q.summed(y, 17)


def _matmul(q: Quantiser) -> None:
    x = q.given("x", 17, 257, step=8)
    kind = q.kind
    q.summed(q.w.node("MatMul", x, q.weights(257, 17, kind=kind, zero=129 if kind == "uint8" else -9)), 257)


def _matmul_channels(q: Quantiser) -> None:
    x = q.given("x", 17, 65, step=8)
    q.summed(q.w.node("MatMul", x, q.weights(65, 17, axis=1)), 65)


def _matmul_given(q: Quantiser) -> None:
    x, y = q.given("x", 3, 5, 33, step=8), q.given("y", 3, 33, 17, place=1, step=64)
    q.summed(q.w.node("MatMul", x, y), 33, other=q.second_scale())


def _transpose_matmul(q: Quantiser) -> None:
    x = q.w.node("Transpose", q.given("x", 33, 33, step=8), perm=[1, 0])
    q.summed(q.w.node("MatMul", x, q.weights(33, 17)), 33)


def _matmul_heads(q: Quantiser) -> None:
    x = q.given("x", 9, 33, step=8)
    y = q.w.node("Reshape", q.w.node("MatMul", x, q.weights(33, 36)), integers(1, 9, 4, 9))
    q.summed(q.w.node("Transpose", y, perm=[0, 2, 1, 3]), 33)


def _add(q: Quantiser) -> None:
    x, y = q.given("x", 2, 17, 17), q.given("y", 17, 1, place=1)
    q.out(q.w.node("Add", x, y), 2.0, 0.0531)


def _add_relu(q: Quantiser) -> None:
    x, y = q.given("x", 17, 33), q.given("y", 17, 33, place=1)
    q.out(q.w.node("Relu", q.w.node("Add", x, y)), 2.0, 0.0531)


def _mul(q: Quantiser) -> None:
    x, y = q.given("x", 2, 17, 17), q.given("y", 17, place=1, step=16)
    q.out(q.w.node("Mul", x, y), 64.0, 0.0613)


def _resize_linear(q: Quantiser) -> None:
    scales = np.array([1, 1, 2, 2], np.float32)
    x = q.given("x", 1, 3, 5, 9)
    q.out(q.w.node("Resize", x, "", scales, mode="linear"), 2.0, 0.0131)


def _resize_nearest(q: Quantiser) -> None:
    scales = np.array([1, 1, 2, 2], np.float32)
    where: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    x = q.given("x", 1, 3, 5, 9)
    q.out(q.w.node("Resize", x, "", scales, mode="nearest", **where), 2.0, 0.0131)


def _average_pool(q: Quantiser) -> None:
    window: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [1, 2]}
    if q.data == "real":
        window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 1]}
    q.out(q.w.node("AveragePool", q.given("x", 1, 17, 7, 8), **window), 2.0, 0.0087)


def _average_pool_border(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 6, 6)
    size = 2 if q.data == "ties" else 3
    y = q.w.node("AveragePool", x, kernel_shape=[size, size], pads=[1, 1, 1, 1], count_include_pad=1)
    q.out(y, 2.0, 0.0087)


def _global_average_pool(q: Quantiser) -> None:
    size = 8 if q.data == "ties" else 7
    q.out(q.w.node("GlobalAveragePool", q.given("x", 3, 17, size, size, step=8)), 0.5, 0.0027)


def _max_pool(q: Quantiser) -> None:
    x = q.given("x", 1, 17, 6, 7)
    q.out(q.w.node("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), 2.0, 0.0211)


def _concat(q: Quantiser) -> None:
    parts = [
        q.given(key, 3, size, 5, place=place)
        for place, (key, size) in enumerate((("x", 17), ("y", 8), ("z", 9)))
    ]
    q.out(q.w.node("Concat", *parts, axis=1), 2.0, 0.0211)


def _relu(q: Quantiser) -> None:
    q.out(q.w.node("Relu", q.given("x", 9, 65)), 2.0, 0.0147)


def _reshape(q: Quantiser) -> None:
    q.out(q.w.node("Reshape", q.given("x", 5, 65), integers(65, -1)), 2.0, 0.0147)


def _transpose(q: Quantiser) -> None:
    q.out(q.w.node("Transpose", q.given("x", 3, 17, 17), perm=[0, 2, 1]), 2.0, 0.0147)


def _transpose_reshape(q: Quantiser) -> None:
    x = q.w.node("Transpose", q.given("x", 2, 17, 9), perm=[0, 2, 1])
    q.out(q.w.node("Reshape", x, integers(2, 17, 9)), 2.0, 0.0147)


def _sigmoid(q: Quantiser) -> None:
    low, _ = range_of(q.kind)
    q.out(q.w.node("Sigmoid", q.given("x", 9, 65, place=1)), 0.0, 0.00391, zero=low)


def _softmax(q: Quantiser) -> None:
    low, _ = range_of(q.kind)
    q.out(q.w.node("Softmax", q.given("x", 9, 33, place=0), axis=1), 0.0, 0.00391, zero=low)


def _softmax_rows(q: Quantiser) -> None:
    low, _ = range_of(q.kind)
    q.out(q.w.node("Softmax", q.given("x", 17, 17, place=2), axis=0), 0.0, 0.00117, zero=low)


def _conv_pool_matmul(q: Quantiser) -> None:
    w, x = q.w, q.given("x", 1, 17, 6, 6, step=8)
    scale, zero = np.array(2048, np.float32), np.array(OUT_ZERO[q.kind], q.kind)
    y = q.summed(w.node("Conv", x, q.weights(9, 17, 3, 3), q.bias(9, 153)), 153)
    restored = w.node("DequantizeLinear", y, scale, zero)
    pooled = w.node("AveragePool", restored, kernel_shape=[2, 2], strides=[2, 2])
    z = w.node("Reshape", w.node("QuantizeLinear", pooled, scale, zero), integers(1, -1))
    q.out(
        w.node("MatMul", w.node("DequantizeLinear", z, scale, zero), q.weights(36, 17)), float(1 << 19), 0.0
    )


Build = Callable[[Quantiser], None]
_BORDER = "around stands the number 0, which is the zero point, and not the integer 0"
_BOTH = "zero points of both are taken away before products"
_CHANNELS = "each channel of the weights has its scale, and the bias that of its products"
_EACH = "each has a scale and a zero point of its own"
_LOW = "what lies below the zero point is taken away, and that is not the least integer"
_MOVED = "moved, and to another scale and zero point"
_ROUNDED = "sums are rounded once: halves to even, before the zero point is added, and saturated"
_COMPUTED: tuple[tuple[str, Build, str], ...] = (
    ("conv", _conv, _BORDER),
    ("conv_channels", _conv_channels, _CHANNELS),
    ("conv_pointwise", _conv_pointwise, _CHANNELS),
    ("conv_depthwise", _conv_depthwise, _BORDER),
    ("conv_weight_zero", _conv_weight_zero, _BOTH),
    ("conv_relu", _conv_relu, _LOW),
    ("conv_clip", _conv_clip, "limits lie inside of what saturation leaves"),
    ("gemm", _gemm, _CHANNELS),
    ("matmul", _matmul, _BOTH),
    ("matmul_channels", _matmul_channels, "each column of the weights has its scale"),
    ("matmul_given", _matmul_given, _EACH),
    ("add", _add, _EACH),
    ("mul", _mul, _EACH),
    ("average_pool", _average_pool, _ROUNDED),
    ("global_average_pool", _global_average_pool, _ROUNDED),
)
"""In either type with either class of data."""
_IN_TURN: tuple[tuple[str, Build, str], ...] = (
    ("add_relu", _add_relu, _EACH),
    ("average_pool_border", _average_pool_border, _BORDER),
    ("max_pool", _max_pool, "the border is never the greatest"),
    ("concat", _concat, _EACH),
    ("resize_linear", _resize_linear, "what lies between is rounded once, in the other scale"),
    ("resize_nearest", _resize_nearest, _MOVED),
    ("relu", _relu, _LOW),
    ("reshape", _reshape, _MOVED),
    ("transpose", _transpose, _MOVED),
    ("transpose_reshape", _transpose_reshape, "the shape is as before, the order is not"),
    ("gemm_factors", _gemm_factors, "factors scale product and bias apart"),
    ("transpose_matmul", _transpose_matmul, "of a square: turned"),
    ("matmul_heads", _matmul_heads, "heads change places with rows"),
    ("conv_transpose_behind", _conv_transpose_behind, "channels go to the end, and keep their weights"),
)
"""Ties in one type, any numbers in the other."""
_REAL: tuple[tuple[str, Build, str], ...] = (
    ("sigmoid", _sigmoid, "to the scale of the result, rounded once"),
    ("softmax", _softmax, "along the axis, to the scale of the result"),
    ("softmax_rows", _softmax_rows, "not along the last axis, and what is large saturates"),
)
_TIES: tuple[tuple[str, Build, str], ...] = (
    ("conv_pool_matmul", _conv_pool_matmul, "rounded after each of them"),
)
_BESIDE = frozenset(
    {
        "conv", "conv_channels", "gemm", "matmul", "add", "mul", "average_pool", "global_average_pool",
        "max_pool", "concat", "resize_linear", "relu", "transpose_reshape", "matmul_heads",
        "transpose_matmul",
    }
)  # fmt: skip
"""Each operator once."""
_KINDS = ("uint8", "int8")
_DATA = ("ties", "real")


def chains(w: Weaver) -> Iterator[Chain]:
    """Every operator, in the types and with the classes of data that it has."""
    for word, build, why in _COMPUTED:
        for data in _DATA:
            for kind in _KINDS:
                yield _chain(w, word, build, why, kind, data)
    for place, (word, build, why) in enumerate(_IN_TURN):
        for turn, data in enumerate(_DATA):
            yield _chain(w, word, build, why, _KINDS[(place + turn) % 2], data)
    for data, forms in (("real", _REAL), ("ties", _TIES)):
        for word, build, why in forms:
            for kind in _KINDS:
                yield _chain(w, word, build, why, kind, data)


def chains_beside(w: Weaver) -> Iterator[Chain]:
    """Each operator once, types and data in turn: for operator versions beside those of the suite."""
    chosen = [form for form in (*_COMPUTED, *_IN_TURN) if form[0] in _BESIDE]
    for place, (word, build, why) in enumerate(chosen):
        yield _chain(w, word, build, why, _KINDS[(place // 2 + 1) % 2], _DATA[place % 2])
    for place, (word, build, why) in enumerate(_REAL[:2]):
        yield _chain(w, word, build, why, _KINDS[place % 2], "real")


def _chain(w: Weaver, word: str, build: Build, why: str, kind: str, data: str) -> Chain:
    quantiser = Quantiser(w, kind, data)
    build(quantiser)
    return quantiser.end(f"qdq_{word}", why)
