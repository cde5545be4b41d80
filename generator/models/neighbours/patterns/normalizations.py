"""Normalizations and functions that are written out or stand behind sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Floats, Weaver, real, whole

_ROW = np.array([3, -3, 1, -1], np.float32)
"""Of mean 0, with the variance 5: with an epsilon of 11 the root is 4."""


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of a normalization, or a function that is written out."""
    yield from around_normalizations(w)
    yield from written_out(w)


def around_normalizations(w: Weaver) -> Iterator[Chain]:
    """Every chain with a normalization or what looks like one."""
    yield from _behind_sums(w)
    yield from _written_out(w)
    yield from _look_alike(w)
    yield from _gelu(w)


def _rows(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Rows that are one of each other plus whole numbers, with signs turned."""
    offsets = whole("offset", *shape, 1, least=-20, most=20)
    signs = np.where(whole("sign", *shape, 1, least=0, most=1) > 0, 1, -1)
    return (offsets + signs * _ROW).astype(np.float32)


def _behind_sums(w: Weaver) -> Iterator[Chain]:
    addends = {"same": (2, 3, 4), "row": (4,), "matrix": (3, 4), "rows": (3, 1)}
    for word, axes in addends.items():
        for both in (False, True):
            x = w.given(whole("x", 2, 3, 4))
            y = w.node("Add", x, whole("addend", *axes))
            z = w.node("LayerNormalization", y, whole("s", 4, least=1), whole("b", 4), epsilon=0.5, axis=-1)
            outputs = (z, y) if both else ()
            why = "the sum is asked for as well, and what is added broadcasts"
            yield w.end("add_layer_norm", why, *outputs, addend=word, asked="both" if both else "last")
    x, y = w.given(whole("x", 2, 3, 4)), w.given(whole("y", 2, 3, 4))
    z = w.node("Add", w.node("Add", x, y), whole("bias", 4))
    w.node("LayerNormalization", z, whole("s", 4, least=1), epsilon=0.5)
    yield w.end("add_add_layer_norm", "a sum of two and a bias, without a bias of the normalization")
    x = w.given(whole("x", 2, 3, 4))
    y = w.node("Add", x, whole("addend", 2, 3, 4))
    w.node("LayerNormalization", y, whole("s", 3, 4, least=1), whole("b", 3, 4), epsilon=0.5, axis=1)
    yield w.end("add_layer_norm", "normalized over two axes", axis="1")


def _written_out(w: Weaver) -> Iterator[Chain]:
    why = "as LayerNormalization is written out; epsilon stands under the root"
    for data in ("plain", "real"):
        for square in ("Pow", "Mul"):
            for rest in ("scale_and_bias", "scale", "none"):
                epsilon = 11.0 if data == "plain" else math.ldexp(1, -16)
                x = w.given(_rows(2, 3) if data == "plain" else real("x", 2, 3, 4))
                scale, bias = w.constant(whole("s", 4, least=1)), w.constant(whole("b", 4))
                y = _normalized(w, x, square, epsilon)
                if rest != "none":
                    y = w.node("Mul", y, scale)
                if rest == "scale_and_bias":
                    w.node("Add", y, bias)
                ones = w.constant(np.ones(4, np.float32))
                given = [scale if rest != "none" else ones, *([bias] if rest == "scale_and_bias" else [])]
                short = w.link("LayerNormalization", x, *given, epsilon=epsilon)
                yield w.end(
                    "layer_norm_written_out", why, spelled=[short], square=square, data=data, affine=rest
                )


def _normalized(w: Weaver, x: str, square: str, epsilon: float, axes: list[int] | None = None) -> str:
    """The deviations from the mean by the root of the variance and epsilon."""
    along = axes or [-1]
    apart = w.node("Sub", x, w.node("ReduceMean", x, axes=along))
    squared = (
        w.node("Mul", apart, apart) if square == "Mul" else w.node("Pow", apart, np.array(2, np.float32))
    )
    variance = w.node("ReduceMean", squared, axes=along)
    root = w.node("Sqrt", w.node("Add", variance, np.array(epsilon, np.float32)))
    return w.node("Div", apart, root)


def _look_alike(w: Weaver) -> Iterator[Chain]:
    below = np.swapaxes(_rows(2, 3), 1, 2)
    apart_by_two = _rows(3).reshape(3, 2, 2).transpose(1, 0, 2)
    for axes, data, word in (([1], below, "middle"), ([0, 2], apart_by_two, "outer")):
        _normalized(w, w.given(np.ascontiguousarray(data)), "Mul", 11.0, axes)
        yield w.end("normalized_along", "not along the last axis: no LayerNormalization", axes=word)
    x = w.given(_rows(2, 3))
    apart = w.node("Sub", x, w.node("ReduceMean", x, axes=[-1]))
    variance = w.node("ReduceMean", w.node("Mul", apart, apart), axes=[-1])
    root = w.node("Sqrt", w.node("Add", variance, np.array(11, np.float32)))
    w.node("Div", apart, w.node("Add", root, np.array(4, np.float32)))
    yield w.end("epsilon_beside_root", "added behind the root: no epsilon of LayerNormalization")
    x = w.given(_rows(2, 3))
    mean = w.node("ReduceMean", x, axes=[-1])
    apart = w.node("Sub", mean, x)
    variance = w.node("ReduceMean", w.node("Mul", apart, apart), axes=[-1])
    w.node("Div", apart, w.node("Sqrt", w.node("Add", variance, np.array(11, np.float32))))
    yield w.end("mean_less_value", "the mean less the value: of the other sign than LayerNormalization")
    x = w.given(np.array([[3, 4, 0, 0], [0, -3, 0, 4], [6, 0, -8, 0]], np.float32))
    w.node("Sqrt", w.node("ReduceSum", w.node("Mul", x, x), axes=[-1]))
    yield w.end("root_of_sum_of_squares", "as ReduceL2 is written out, axes kept")
    x = w.given(np.array([[3, -4, 0, 1], [0, -3, 0, 4]], np.float32))
    w.node("ReduceSum", w.node("Abs", x), axes=[0], keepdims=0)
    yield w.end("sum_of_absolutes", "as ReduceL1 is written out, the axis dropped")


def _gelu(w: Weaver) -> Iterator[Chain]:
    root, half, one = np.float32(np.sqrt(2)), np.array(0.5, np.float32), np.array(1, np.float32)
    for order in ("half_last", "half_first", "half_inside"):
        for bias in (False, True):
            data = real("gelu", 2, 12)
            x = start = w.given(whole("gelu", 2, 12) if bias else data)
            if bias:
                x = w.node("Add", x, whole("bias", 12))
                data = whole("gelu", 2, 12) + whole("bias", 12)
            grown = w.node("Add", w.node("Erf", w.node("Div", x, np.array(root))), one)
            if order == "half_last":
                w.node("Mul", w.node("Mul", x, grown), half)
            elif order == "half_first":
                w.node("Mul", w.node("Mul", x, half), grown)
            else:
                w.node("Mul", x, w.node("Mul", grown, half))
            why = "as Gelu is written out, with its half in either place"
            # The constant is the root of 2 rounded: a relative error of u in erf's argument
            # (docs/why-believe.md).
            beside = np.abs(data.astype(np.float64)) * math.ldexp(1, -24)
            short = [w.link("Add", start, whole("bias", 12))] if bias else []
            short.append(w.link("Gelu", short[0].outputs[0] if bias else x))
            word = "added" if bias else "none"
            yield w.end("gelu_written_out", why, spelled=short, beside=beside, half=order, bias=word)


_UNIT = math.ldexp(1, -24)


def written_out(w: Weaver) -> Iterator[Chain]:
    """Every chain that writes an operator out."""
    yield from _layer_normalizations(w)
    yield from _rms_normalizations(w)
    yield from _gelu_written_out(w)
    yield from _attention(w)


def _number(value: float) -> Any:
    return np.array(value, np.float32)


def _layer_normalizations(w: Weaver) -> Iterator[Chain]:
    why = "as LayerNormalization is written out; epsilon stands under the root"
    for length, square in ((17, "Pow"), (65, "Mul"), (257, "Pow"), (256, "Mul")):
        epsilon = math.ldexp(1, -4)
        x = w.given(real("x", 5, length))
        scale, bias = w.constant(whole("s", length, least=1)), w.constant(whole("b", length))
        apart = w.node("Sub", x, w.node("ReduceMean", x, axes=[-1]))
        squared = w.node("Mul", apart, apart) if square == "Mul" else w.node("Pow", apart, _number(2))
        variance = w.node("ReduceMean", squared, axes=[-1])
        root = w.node("Sqrt", w.node("Add", variance, _number(epsilon)))
        w.node("Add", w.node("Mul", w.node("Div", apart, root), scale), bias)
        short = w.link("LayerNormalization", x, scale, bias, epsilon=epsilon)
        yield w.end("wide_layer_norm_written_out", why, spelled=[short], length=str(length), square=square)


def _rms_normalizations(w: Weaver) -> Iterator[Chain]:
    for length in (65, 257):
        epsilon = math.ldexp(1, -4)
        x, scale = w.given(real("x", 5, length)), w.constant(whole("s", length, least=1))
        mean = w.node("ReduceMean", w.node("Pow", x, _number(2)), axes=[-1])
        root = w.node("Sqrt", w.node("Add", mean, _number(epsilon)))
        w.node("Mul", w.node("Div", x, root), scale)
        why = "as RMSNormalization is written out: no mean is taken away"
        short = w.link("RMSNormalization", x, scale, epsilon=epsilon)
        yield w.end("wide_rms_norm_written_out", why, spelled=[short], length=str(length))


def _gelu_written_out(w: Weaver) -> Iterator[Chain]:
    why = "as Gelu is written out"
    data = real("gelu", 5, 65)
    # The root of 2 is rounded: a relative error of u in erf's argument (docs/why-believe.md).
    beside = np.abs(data.astype(np.float64)) * _UNIT
    for how in ("quotient", "product"):
        x = w.given(data)
        inner = (
            w.node("Div", x, _number(math.sqrt(2)))
            if how == "quotient"
            else w.node("Mul", x, _number(math.sqrt(0.5)))
        )
        grown = w.node("Add", w.node("Erf", inner), _number(1))
        w.node("Mul", w.node("Mul", x, grown), _number(0.5))
        short = w.link("Gelu", x)
        yield w.end("wide_gelu_written_out", why, spelled=[short], beside=beside, root=how)
    for how in ("power", "product"):
        x = w.given(data)
        cube = w.node("Pow", x, _number(3)) if how == "power" else w.node("Mul", w.node("Mul", x, x), x)
        inner = w.node("Add", x, w.node("Mul", cube, _number(0.044715)))
        grown = w.node(
            "Add", w.node("Tanh", w.node("Mul", inner, _number(math.sqrt(2 / math.pi)))), _number(1)
        )
        w.node("Mul", w.node("Mul", x, grown), _number(0.5))
        short = w.link("Gelu", x, approximate="tanh")
        # Two constants are rounded: twice u in tanh's argument, whose slope times itself is below a half.
        yield w.end("wide_gelu_written_out", f"{why} by tanh", spelled=[short], beside=beside, cube=how)


def _attention(w: Weaver) -> Iterator[Chain]:
    why = "scores are scaled, the mask is added behind the scale, and the sum goes over keys"
    for word, rows, keys, size, scaled, masked in (
        ("plain", 17, 17, 16, "product", False),
        ("masked", 17, 17, 16, "product", True),
        ("queries", 17, 17, 16, "queries", False),
        ("divided", 5, 33, 64, "quotient", False),
        ("divided_masked", 9, 65, 64, "quotient", True),
    ):
        q, k, v = (_given(w, key, length, size) for key, length in (("q", rows), ("k", keys), ("v", keys)))
        factor = 1 / math.sqrt(size)
        left = w.node("Mul", q, _number(factor)) if scaled == "queries" else q
        scores = w.node("MatMul", left, w.node("Transpose", k, perm=[0, 1, 3, 2]))
        if scaled == "product":
            scores = w.node("Mul", scores, _number(factor))
        if scaled == "quotient":
            scores = w.node("Div", scores, _number(math.sqrt(size)))
        mask = w.constant(_mask(rows, keys))
        if masked:
            scores = w.node("Add", scores, mask)
        w.node("MatMul", w.node("Softmax", scores, axis=-1), v)
        short = w.link("Attention", q, k, v, *([mask] if masked else []), scale=factor)
        yield w.end("wide_attention_written_out", why, spelled=[short], form=word)


def _given(w: Weaver, key: str, length: int, size: int) -> str:
    return w.given(real(f"attention {key}", 1, 2, length, size) / np.float32(4))


def _mask(rows: int, keys: int) -> Floats:
    """What a query may see, as many keys as its number and the length of the rest; and how much it does."""
    allowed = np.arange(keys)[None] <= np.arange(rows)[:, None] + (keys - rows)
    return np.where(allowed, real("mask", rows, keys) / 4, -1000).astype(np.float32)
