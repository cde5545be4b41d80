"""QuantizeLinear and DequantizeLinear beside each other, and around what runtimes compute in integers.

Zero points are even but in the chains that ask how halves are rounded: to the even integer, before the zero
point is added. With an even one nobody can tell whether it was added before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Weaver, whole
from generator.models.neighbours.patterns.quantising import range_of

_SCALE = 0.5
Numbers = type[np.uint8] | type[np.int8]


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain with QuantizeLinear and DequantizeLinear."""
    yield from _round_trips(w)
    yield from _requantised(w)
    yield from _around_one(w)
    yield from _around_two(w)
    yield from _around_sums(w)
    yield from _halves(w)


def _quantised(w: Weaver, value: str, zero: int = 4, kind: Numbers = np.uint8, scale: float = _SCALE) -> str:
    return w.node("QuantizeLinear", value, np.array(scale, np.float32), np.array(zero, kind))


def _restored(w: Weaver, value: str, zero: int = 4, kind: Numbers = np.uint8, scale: float = _SCALE) -> str:
    return w.node("DequantizeLinear", value, np.array(scale, np.float32), np.array(zero, kind))


def _bytes(key: str, *shape: int, kind: Numbers = np.uint8) -> Any:
    least, most = range_of(kind)
    return whole(key, *shape, least=least, most=most, dtype=kind)


def _round_trips(w: Weaver) -> Iterator[Chain]:
    why = "to quantise and back rounds and saturates: the pair is no identity"
    for kind, zero in ((np.uint8, 0), (np.uint8, 128), (np.int8, 0), (np.int8, -6)):
        x = w.given(
            np.array([[0.25, -0.25, 0.75, -1.5, 500, -500], [1.6, 2.2, -0.1, 63.4, -64.4, 0]], np.float32)
        )
        _restored(w, _quantised(w, x, zero, kind), zero, kind)
        yield w.end("quantise_dequantise", why, zero=str(zero), to=np.dtype(kind).name)
    x = w.given((whole("x", 2, 3, 4, least=-600, most=600) / 8).astype(np.float32))
    scales, zeros = np.array([0.25, 0.5, 2], np.float32), np.array([0, 100, 8], np.uint8)
    y = w.node("QuantizeLinear", x, scales, zeros, axis=1)
    w.node("DequantizeLinear", y, scales, zeros, axis=1)
    yield w.end("quantise_dequantise", why, zero="each_channel")
    x = w.given((whole("x", 3, 3, 3, least=-600, most=600) / 8).astype(np.float32))
    y = w.node("QuantizeLinear", x, scales, zeros, axis=0)
    w.node("DequantizeLinear", y, scales, zeros, axis=2)
    yield w.end("quantise_dequantise", "scales along another axis are others", zero="other_axis")
    for word, one, other in (
        ("scale", (4, np.uint8, 0.5), (4, np.uint8, 2.0)),
        ("zero", (4, np.uint8, 0.5), (10, np.uint8, 0.5)),
    ):
        x = w.given(whole("x", 3, 5, least=-40, most=140) / np.float32(4))
        _restored(w, _quantised(w, x, *one), *other)
        yield w.end("quantise_dequantise", "back by another scale or zero point", other=word)


def _requantised(w: Weaver) -> Iterator[Chain]:
    settings: dict[str, tuple[tuple[int, Numbers, float], tuple[int, Numbers, float]]] = {
        "same": ((4, np.uint8, 0.5), (4, np.uint8, 0.5)),
        "scale": ((4, np.uint8, 0.5), (4, np.uint8, 2.0)),
        "finer": ((4, np.uint8, 0.5), (4, np.uint8, 0.125)),
        "zero": ((4, np.uint8, 0.5), (130, np.uint8, 0.5)),
        "signed": ((128, np.uint8, 0.5), (0, np.int8, 0.5)),
        "unsigned": ((0, np.int8, 0.5), (0, np.uint8, 0.5)),
    }
    for word, (one, other) in settings.items():
        x = w.given(_bytes("x", 4, 8, kind=one[1]))
        _quantised(w, _restored(w, x, *one), *other)
        yield w.end(
            "dequantise_quantise", "only with the same scale, zero point and type an identity", other=word
        )


def _around_one(w: Weaver) -> Iterator[Chain]:
    pads = np.array([0, 0, 1, 0, 0, 0, 0, 1], np.int64)
    minus, plus = np.array(-2, np.float32), np.array(4, np.float32)
    forms: tuple[tuple[str, str, tuple[Any, ...], dict[str, Any]], ...] = (
        ("relu", "Relu", (), {}),
        ("clip", "Clip", (minus, plus), {}),
        ("leaky_relu", "LeakyRelu", (), {"alpha": 0.25}),
        ("neg", "Neg", (), {}),
        ("abs", "Abs", (), {}),
        ("max_pool", "MaxPool", (), {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}),
        ("average_pool", "AveragePool", (), {"kernel_shape": [2, 2], "strides": [2, 1]}),
        ("transpose", "Transpose", (), {"perm": [0, 2, 3, 1]}),
        ("reshape", "Reshape", (np.array([1, -1], np.int64),), {}),
        ("pad", "Pad", (pads,), {}),
        ("pad_value", "Pad", (pads, plus), {}),
        ("pad_reflect", "Pad", (pads,), {"mode": "reflect"}),
        ("reduce_max", "ReduceMax", (), {"axes": [2], "keepdims": 0}),
        ("reduce_sum", "ReduceSum", (), {"axes": [1]}),
        ("slice", "Slice", (np.array([3], np.int64), np.array([-9], np.int64), np.array([3], np.int64),
                            np.array([-2], np.int64)), {}),
    )  # fmt: skip
    for word, operator, further, attributes in forms:
        for name, one, other in (
            ("same", (100, np.uint8, 0.5), (100, np.uint8, 0.5)),
            ("other", (100, np.uint8, 0.5), (30, np.uint8, 1.0)),
            ("signed", (-4, np.int8, 0.25), (-4, np.int8, 0.25)),
        ):
            y = _restored(w, w.given(_bytes("x", 1, 2, 4, 4, kind=one[1])), *one)
            _quantised(w, w.node(operator, y, *further, **attributes), *other)
            why = "zero is the zero point, and what is rounded is what the operator gives"
            yield w.end(f"quantised_{word}", why, scales=name)
    x = w.given(whole("x", 2, 8, least=-300, most=300) / np.float32(4))
    w.node("Relu", _restored(w, _quantised(w, x, 128), 128))
    yield w.end("quantise_dequantise_relu", "below the zero point lies what Relu takes away")
    x = w.given(whole("x", 2, 8, least=-300, most=300) / np.float32(4))
    _restored(w, _quantised(w, w.node("Relu", x), 128), 128)
    yield w.end("relu_quantise_dequantise", "only with a zero point of 0 does saturation do what Relu does")


def _around_two(w: Weaver) -> Iterator[Chain]:
    for operator in ("Add", "Mul", "Sub", "Concat"):
        for name, second, out in (
            ("same", (4, np.uint8, 0.5), (4, np.uint8, 0.5)),
            ("all_other", (8, np.uint8, 2.0), (100, np.uint8, 1.0)),
        ):
            x = _restored(w, w.given(_bytes("x", 3, 4)))
            y = _restored(w, w.given(_bytes("y", 3, 4)), *second)
            z = w.node(operator, x, y, **({"axis": 1} if operator == "Concat" else {}))
            _quantised(w, z, *out)
            yield w.end(
                f"quantised_{operator.lower()}", "each has a scale and a zero point of its own", scales=name
            )


def _around_sums(w: Weaver) -> Iterator[Chain]:
    why = "around stands the zero point and not 0; sums are rounded once, to even"
    for pads in (0, 1):
        for bias in (False, True):
            for zero, weight_zero in ((128, 0), (4, 0), (0, 2)):
                x = _restored(w, w.given(_bytes("x", 1, 2, 4, 4)), zero)
                weights = whole("w", 3, 2, 3, 3, least=-5, most=5, dtype=np.int8)
                v = _restored(w, w.constant(weights), weight_zero, np.int8, 0.25)
                further = [whole("b", 3)] if bias else []
                y = w.node("Conv", x, v, *further, pads=[pads] * 4)
                _quantised(w, y, 60, np.uint8, 4.0)
                yield w.end("quantised_conv", why, zero=str(zero), weight_zero=str(weight_zero),
                            bias="given" if bias else "none", pads=str(pads))  # fmt: skip
    for zero, kind, weight in ((128, np.uint8, np.int8), (4, np.uint8, np.uint8), (-4, np.int8, np.int8)):
        for quantised in (True, False):
            x = _restored(w, w.given(_bytes("x", 3, 4, kind=kind)), zero, kind)
            low = 0 if weight is np.uint8 else -6
            v = _restored(w, w.constant(whole("w", 4, 5, least=low, most=6, dtype=weight)), 2, weight, 0.25)
            y = w.node("MatMul", x, v)
            if quantised:
                _quantised(w, y, 60, np.uint8, 4.0)
            else:
                w.node("Add", y, whole("b", 5))
            why = "zero points are taken away before products"
            yield w.end("quantised_matmul", why, zero=str(zero),
                        weights=np.dtype(weight).name, out="whole" if quantised else "real")  # fmt: skip
    scales, zeros = np.array([0.25, 0.5, 2], np.float32), np.array([0, 1, -2], np.int8)
    x = _restored(w, w.given(_bytes("x", 1, 2, 4, 4)), 128)
    weights = whole("w", 3, 2, 3, 3, least=-5, most=5, dtype=np.int8)
    v = w.node("DequantizeLinear", w.constant(weights), scales, zeros, axis=0)
    _quantised(w, w.node("Relu", w.node("Conv", x, v, whole("b", 3))), 0, np.uint8, 4.0)
    yield w.end("quantised_conv_relu", "each channel of the weights has its scale", weights="each_channel")
    x = _restored(w, w.given(_bytes("x", 3, 4)), 128)
    weights = whole("w", 4, 3, least=-5, most=5, dtype=np.int8)
    v = w.node("DequantizeLinear", w.constant(weights), scales, zeros, axis=1)
    _quantised(w, w.node("Gemm", x, v, whole("b", 3), alpha=2.0), 0, np.uint8, 4.0)
    yield w.end("quantised_gemm", "alpha scales the product, not the bias")


def _halves(w: Weaver) -> Iterator[Chain]:
    why = "halves become even before the zero point is added"
    for zero, kind in ((3, np.uint8), (-5, np.int8)):
        x = w.given(np.arange(-7, 9, dtype=np.float32).reshape(2, 8) / np.float32(4))
        _restored(w, _quantised(w, x, zero, kind), zero, kind)
        yield w.end("halves_back", why, zero=str(zero))
        for operator, attributes in (
            ("AveragePool", {"kernel_shape": [1, 2], "strides": [1, 2]}), ("LeakyRelu", {"alpha": 0.5}),
        ):  # fmt: skip
            x = w.given(np.arange(50, 66).reshape(1, 1, 2, 8).astype(kind))
            _quantised(w, w.node(operator, _restored(w, x, zero, kind), **attributes), zero, kind)
            yield w.end(f"halves_of_{operator.lower()}", why, zero=str(zero))
        for operator in ("Add", "Mul"):
            x = _restored(w, w.given(np.arange(6, 22).reshape(2, 8).astype(kind)), zero, kind)
            y = _restored(w, w.given(np.arange(30, 46).reshape(2, 8).astype(kind)), zero, kind)
            _quantised(w, w.node(operator, x, y), zero, kind, 1.0 if operator == "Add" else 0.5)
            yield w.end(f"halves_of_{operator.lower()}", why, zero=str(zero))
        x = _restored(w, w.given(np.arange(6, 22).reshape(2, 8).astype(kind)), zero, kind)
        v = _restored(w, w.constant(whole("w", 8, 3, least=-6, most=6, dtype=np.int8)), 0, np.int8, 0.25)
        _quantised(w, w.node("MatMul", x, v), zero, kind, 0.25)
        yield w.end("halves_of_matmul", why, zero=str(zero))
