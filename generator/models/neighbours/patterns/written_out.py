"""Normalizations, Gelu and attention written out in elementary nodes, at the sizes of kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Floats, Weaver, real, whole

_UNIT = math.ldexp(1, -24)


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain that writes an operator out."""
    yield from _layer_normalizations(w)
    yield from _rms_normalizations(w)
    yield from _gelu(w)
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


def _gelu(w: Weaver) -> Iterator[Chain]:
    why = "as Gelu is written out"
    data = real("gelu", 5, 65)
    # The root of 2 is rounded: a relative error of u in erf's argument (docs/bounds.md).
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
