"""Convolutions with what stands before and behind them: normalization, bias, activation, padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.models.chains.chains import Chain, Given, Weaver, normalization, powers, whole


def chains(w: Weaver) -> Iterator[Chain]:
    """Every chain of a convolution."""
    yield from around_convolutions(w)
    yield from wide_convolutions(w)


def around_convolutions(w: Weaver) -> Iterator[Chain]:
    """Every chain around a convolution."""
    yield from _normalized(w)
    yield from _with_bias(w)
    yield from _activated(w)
    yield from _padded(w)
    yield from _before(w)


def _normalize(w: Weaver, value: str, channels: int, epsilon: float = 0.5) -> str:
    return w.node("BatchNormalization", value, *normalization("normal ", channels), epsilon=epsilon)


def _normalized(w: Weaver) -> Iterator[Chain]:
    why = "the normalization goes into weights and bias: epsilon under the root, the bias scaled as well"
    for bias in (False, True):
        for epsilon, word in ((0.5, "half"), (1e-5, "default")):
            given = [whole("b", 4)] if bias else []
            y = w.node("Conv", w.given(whole("x", 2, 3, 5, 4)), whole("w", 4, 3, 3, 3), *given)
            _normalize(w, y, 4, epsilon)
            yield w.end("conv_bn", why, bias="given" if bias else "none", epsilon=word)
    for group, weights in ((2, (4, 2, 3, 3)), (4, (4, 1, 3, 3))):
        x = w.given(whole("x", 1, 4, 6, 5))
        y = w.node(
            "Conv", x, whole("w", *weights), whole("b", 4), group=group, strides=[2, 1], pads=[1, 1, 1, 1]
        )
        w.node("Relu", _normalize(w, y, 4))
        yield w.end("conv_bn_relu", why, group=str(group))
    y = w.node("Conv", w.given(whole("x", 2, 3, 7)), whole("w", 4, 3, 3), whole("b", 4), dilations=[2])
    _normalize(w, y, 4)
    yield w.end("conv_bn", why, axes="one")
    y = w.node("Conv", w.given(whole("x", 2, 3, 5, 4)), whole("w", 3, 3, 3, 3), whole("b", 3))
    z = _normalize(w, y, 3)
    yield w.end("conv_bn", "what Conv gives is asked for, too, and stays what it is", z, y, asked="both")
    x = w.given(whole("x", 1, 3, 4, 4))
    y = w.node("ConvTranspose", x, whole("w", 3, 4, 3, 3), whole("b", 4), strides=[2, 2])
    _normalize(w, y, 4)
    yield w.end("conv_transpose_bn", "the channels that come out lie on the second axis of the weights")
    x = w.given(whole("x", 1, 4, 3, 3))
    y = w.node("ConvTranspose", x, whole("w", 4, 2, 2, 2), group=2)
    _normalize(w, y, 4)
    yield w.end("conv_transpose_bn", "of a group the channels are counted on", group="2")


def _with_bias(w: Weaver) -> Iterator[Chain]:
    shapes = {
        "channels": (1, 4, 1, 1),
        "channels_alone": (4, 1, 1),
        "scalar": (),
        "width": (4,),
        "full": (1, 4, 4, 4),
    }
    for operator in ("Add", "Mul", "Sub"):
        for shape, axes in shapes.items():
            x = w.given(whole("x", 1, 3, 6, 6))
            y = w.node("Conv", x, whole("w", 4, 3, 3, 3), whole("b", 4))
            other = powers("factor", *axes) if operator == "Mul" else whole("addend", *axes)
            w.node(operator, y, other)
            why = "what has the shape of channels goes into weights and bias; along the width it does not"
            yield w.end(f"conv_{operator.lower()}", why, shape=shape)
    x = w.given(whole("x", 1, 3, 5, 5))
    y = w.node("Conv", x, whole("w", 3, 3, 3, 3), whole("b", 3), pads=[1, 1, 1, 1])
    w.node("Relu", w.node("Add", x, y))
    yield w.end("conv_add_relu", "the sum with what went in comes before Relu")
    x = w.given(whole("x", 1, 3, 5, 5))
    y = w.node("Relu", w.node("Conv", x, whole("w", 3, 3, 3, 3), pads=[1, 1, 1, 1]))
    w.node("Add", y, x)
    yield w.end("conv_relu_add", "the sum with what went in comes behind Relu")


def _activated(w: Weaver) -> Iterator[Chain]:
    low, high = np.float32(-2), np.float32(5)
    forms: tuple[tuple[str, str, tuple[Any, ...], dict[str, Any]], ...] = (
        ("relu", "Relu", (), {}),
        ("clip", "Clip", (low, high), {}),
        ("clip", "Clip", ("", np.array(3, np.float32)), {}),
        ("leaky_relu", "LeakyRelu", (), {"alpha": 0.25}),
        ("neg", "Neg", (), {}),
        ("abs", "Abs", (), {}),
    )
    for word, operator, further, attributes in forms:
        x = w.given(whole("x", 1, 2, 5, 5))
        y = w.node("Conv", x, whole("w", 3, 2, 3, 3), whole("b", 3))
        others = [each if isinstance(each, str) else np.asarray(each) for each in further]
        w.node(operator, y, *others, **attributes)
        limits = "both" if len(further) == 2 and further[0] != "" else "upper" if further else "none"
        yield w.end(f"conv_{word}", "the function is applied to the sum with the bias", limits=limits)


def _padded(w: Weaver) -> Iterator[Chain]:
    around = [0, 0, 1, 2, 0, 0, 2, 1]
    forms: tuple[tuple[str, list[int], float | None, dict[str, Any], str], ...] = (
        ("nothing", around, None, {}, "zeros around go into the convolution's pads"),
        ("value", around, 2.0, {}, "the convolution pads with 0, not with this value"),
        ("own_pads", around, None, {"pads": [1, 0, 0, 1]}, "both pads are added up"),
        ("value_and_own_pads", around, 3.0, {"pads": [1, 1, 1, 1]}, "3 inside, 0 outside of it"),
        ("same_upper", around, None, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, "as wide as the padded"),
        ("valid", around, None, {"auto_pad": "VALID"}, "VALID has no pads of its own"),
        ("cropped", [0, 0, -1, 1, 0, 0, 1, -1], None, {}, "negative pads take elements away"),
        ("channels", [0, 1, 0, 0, 0, 0, 0, 0], None, {}, "a channel of zeros is no border"),
        ("batch", [1, 0, 0, 0, 0, 0, 0, 0], None, {}, "an image of zeros is no border"),
        ("strided", around, None, {"strides": [2, 3], "dilations": [2, 1]}, "steps begin at the border"),
    )  # fmt: skip
    for word, pads, value, attributes, why in forms:
        channels = 3 if word == "channels" else 2
        further = [] if value is None else [np.array(value, np.float32)]
        padded = w.node("Pad", w.given(whole("x", 1, 2, 6, 5)), np.array(pads, np.int64), *further)
        w.node("Conv", padded, whole("w", 3, channels, 3, 2), whole("b", 3), **attributes)
        yield w.end("pad_conv", why, pads=word)
    for mode in ("reflect", "edge"):
        padded = w.node("Pad", w.given(whole("x", 1, 2, 6, 5)), np.array(around, np.int64), mode=mode)
        w.node("Conv", padded, whole("w", 3, 2, 3, 2))
        yield w.end("pad_conv", "the convolution pads with 0, not with what lies inside", pads=mode)
    for include in (0, 1):
        for value in (None, -8.0, 4.0):
            further = [] if value is None else [np.array(value, np.float32)]
            sides = np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)
            padded = w.node("Pad", w.given(whole("x", 1, 2, 4, 4, least=-9, most=-1)), sides, *further)
            operator = "AveragePool" if include else "MaxPool"
            w.node(operator, padded, kernel_shape=[2, 2], strides=[2, 2])
            why = "what was padded counts: the pool's own pads would be left out"
            yield w.end("pad_pool", why, value="none" if value is None else f"{value:g}")


def _before(w: Weaver) -> Iterator[Chain]:
    why = "at the border the convolution's zeros are no zeros before {}: the bias does not fold in"
    for pads in (0, 1):
        x = _normalize(w, w.given(whole("x", 1, 3, 5, 4)), 3)
        w.node("Conv", x, whole("w", 2, 3, 3, 3), whole("b", 2), pads=[pads] * 4)
        yield w.end("bn_conv", why.format("the normalization"), pads=str(pads))
        for operator in ("Add", "Sub", "Mul"):
            other = powers("f", 1, 3, 1, 1) if operator == "Mul" else whole("a", 1, 3, 1, 1)
            x = w.node(operator, w.given(whole("x", 1, 3, 5, 4)), other)
            w.node("Conv", x, whole("w", 2, 3, 3, 3), whole("b", 2), pads=[pads] * 4)
            yield w.end(f"{operator.lower()}_conv", why.format(operator), pads=str(pads))
    x = w.node("Conv", w.given(whole("x", 1, 2, 6, 6)), whole("w", 3, 2, 1, 1), whole("b", 3))
    w.node("Conv", x, whole("v", 2, 3, 3, 3), whole("c", 2), pads=[1, 1, 1, 1])
    yield w.end("conv_conv", "the first bias is not there under the second one's border")
    x = w.node("Transpose", w.given(whole("x", 1, 5, 4, 3)), perm=[0, 3, 1, 2])
    y = w.node("Conv", x, whole("w", 2, 3, 3, 2), whole("b", 2))
    w.node("Transpose", y, perm=[0, 2, 3, 1])
    yield w.end("transpose_conv_transpose", "height and width stay where they are when channels move")


def wide_convolutions(w: Weaver) -> Iterator[Chain]:
    """Every chain around a convolution of many channels."""
    yield from _wide_normalized(w)
    yield from _added(w)
    yield from _wide_activated(w)
    yield from _wide_padded(w)


def _wide_normalize(w: Weaver, value: str, channels: int, epsilon: float = 0.5) -> str:
    return w.node("BatchNormalization", value, *normalization("", channels), epsilon=epsilon)


def _convolved(w: Weaver, *, bias: bool = True, **attributes: Any) -> str:
    """A convolution of 17 channels by 3 x 3."""
    further = [whole("b", 33)] if bias else []
    return w.node("Conv", w.given(whole("x", 1, 17, 6, 6)), whole("w", 33, 17, 3, 3), *further, **attributes)


def _wide_normalized(w: Weaver) -> Iterator[Chain]:
    why = "the normalization goes into weights and bias: epsilon under the root, the bias scaled as well"
    for bias, epsilon in ((True, 0.5), (False, 0.5), (True, 1e-5)):
        _wide_normalize(w, _convolved(w, bias=bias), 33, epsilon)
        yield w.end("wide_conv_bn", why, bias="given" if bias else "none", epsilon=f"{epsilon:g}")
    x = w.given(whole("x", 1, 33, 6, 5))
    y = w.node("Conv", x, whole("w", 33, 1, 3, 3), whole("b", 33), group=33, pads=[1, 1, 1, 1])
    w.node("Relu", _wide_normalize(w, y, 33))
    yield w.end("wide_conv_bn_relu", why, group="33")
    x = w.given(whole("x", 1, 17, 4, 4))
    y = w.node("ConvTranspose", x, whole("w", 17, 9, 3, 3), whole("b", 9), strides=[2, 2])
    _wide_normalize(w, y, 9)
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


def _wide_activated(w: Weaver) -> Iterator[Chain]:
    w.node("Relu", _convolved(w, strides=[2, 2]))
    yield w.end("wide_conv_relu", "the function is applied to the sum with the bias")
    low, high = np.array(-20, np.float32), np.array(60, np.float32)
    forms: dict[str, tuple[Given | str, ...]] = {"both": (low, high), "upper": ("", high), "lower": (low,)}
    for word, limits in forms.items():
        w.node("Clip", _convolved(w), *limits)
        yield w.end("wide_conv_clip", "each limit that is given, and no other", limits=word)


def _wide_padded(w: Weaver) -> Iterator[Chain]:
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
