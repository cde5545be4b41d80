"""Convolutions of many channels with what goes into their weights, bias, pads and activation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Given, Weaver, powers, whole
from generator.models.neighbours.patterns.around_convolutions import normalization


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain around a convolution of many channels."""
    yield from _normalized(w)
    yield from _added(w)
    yield from _activated(w)
    yield from _padded(w)


def _normalize(w: Weaver, value: str, channels: int, epsilon: float = 0.5) -> str:
    return w.node("BatchNormalization", value, *normalization("", channels), epsilon=epsilon)


def _convolved(w: Weaver, *, bias: bool = True, **attributes: Any) -> str:
    """A convolution of 17 channels by 3 x 3."""
    further = [whole("b", 33)] if bias else []
    return w.node("Conv", w.given(whole("x", 1, 17, 6, 6)), whole("w", 33, 17, 3, 3), *further, **attributes)


def _normalized(w: Weaver) -> Iterator[Chain]:
    why = "the normalization goes into weights and bias: epsilon under the root, the bias scaled as well"
    for bias, epsilon in ((True, 0.5), (False, 0.5), (True, 1e-5)):
        _normalize(w, _convolved(w, bias=bias), 33, epsilon)
        yield w.end("wide_conv_bn", why, bias="given" if bias else "none", epsilon=f"{epsilon:g}")
    x = w.given(whole("x", 1, 33, 6, 5))
    y = w.node("Conv", x, whole("w", 33, 1, 3, 3), whole("b", 33), group=33, pads=[1, 1, 1, 1])
    w.node("Relu", _normalize(w, y, 33))
    yield w.end("wide_conv_bn_relu", why, group="33")
    x = w.given(whole("x", 1, 17, 4, 4))
    y = w.node("ConvTranspose", x, whole("w", 17, 9, 3, 3), whole("b", 9), strides=[2, 2])
    _normalize(w, y, 9)
    yield w.end("wide_conv_transpose_bn", "the channels that come out lie on the second axis of the weights")


def _added(w: Weaver) -> Iterator[Chain]:
    why = "what has the shape of channels goes into weights and bias; along the width it does not"
    for operator in ("Add", "Mul"):
        for shape, axes in (("channels", (17, 1, 1)), ("width", (17,))):
            y = w.node("Conv", w.given(whole("x", 1, 5, 3, 19)), whole("w", 17, 5, 3, 3), whole("b", 17))
            w.node(operator, y, whole("a", *axes) if operator == "Add" else powers("a", *axes))
            yield w.end(f"wide_conv_{operator.lower()}", why, shape=shape)
    x = w.given(whole("x", 1, 17, 5, 5))
    y = w.node("Conv", x, whole("w", 17, 17, 3, 3), whole("b", 17), pads=[1, 1, 1, 1])
    w.node("Relu", w.node("Add", y, x))
    yield w.end("wide_conv_add_relu", "the sum with what went in comes before Relu")


def _activated(w: Weaver) -> Iterator[Chain]:
    w.node("Relu", _convolved(w, strides=[2, 2]))
    yield w.end("wide_conv_relu", "the function is applied to the sum with the bias")
    low, high = np.array(-20, np.float32), np.array(60, np.float32)
    forms: dict[str, tuple[Given | str, ...]] = {"both": (low, high), "upper": ("", high), "lower": (low,)}
    for word, limits in forms.items():
        w.node("Clip", _convolved(w), *limits)
        yield w.end("wide_conv_clip", "each limit that is given, and no other", limits=word)


def _padded(w: Weaver) -> Iterator[Chain]:
    around = np.array([0, 0, 1, 2, 0, 0, 2, 1], np.int64)
    for word, value, own in (
        ("nothing", None, [0, 0, 0, 0]),
        ("value", 2.0, [0, 0, 0, 0]),
        ("own_pads", None, [1, 0, 0, 1]),
        ("value_and_own_pads", 3.0, [1, 1, 1, 1]),
    ):
        further = [] if value is None else [np.array(value, np.float32)]
        padded = w.node("Pad", w.given(whole("x", 1, 17, 5, 4)), around, *further)
        w.node("Conv", padded, whole("w", 17, 17, 3, 3), whole("b", 17), pads=own)
        why = "a convolution pads with 0, and both pads are added up"
        yield w.end("wide_pad_conv", why, pads=word)
