"""Products, pools and normalizations of com.microsoft against loops in double, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.reference.sampling_by_loops import Way, grid_sample
from tests.reference.test_contributed_attentions import hold
from tests.reference.test_contributed_operators import Array, Asked, Program, draw, normal, without


def bent(x: Array, activation: str | None, alpha: float = 0.01) -> Array:
    match activation:
        case "Relu":
            return np.where(x > 0, x, 0)
        case "LeakyRelu":
            return np.where(x > 0, x, alpha * x)
        case "Sigmoid":
            return 1 / (1 + np.exp(-x))
        case "Tanh":
            return np.tanh(x)
    return x


def gemm(
    *,
    A: Array,
    B: Array,
    C: Array | float = 0.0,
    alpha: float = 1,
    beta: float = 1,
    transA: int = 0,
    transB: int = 0,
    activation: str | None = None,
    activation_alpha: float = 0.01,
    early: bool = False,
) -> Array:
    plain = alpha * ((A.T if transA else A) @ (B.T if transB else B))
    if early:
        return bent(plain, activation, activation_alpha) + beta * C
    return bent(plain + beta * C, activation, activation_alpha)


def product(activation: str | None, **attributes: Any) -> Asked:
    rows = (5, 3) if attributes.get("transA") else (3, 5)
    columns = (4, 5) if attributes.get("transB") else (5, 4)
    inputs = {"A": normal(*rows), "B": normal(*columns), "C": normal(4)}
    faults: dict[str, Program] = {
        name: without(name, of=gemm) for name in attributes if not name.startswith("trans")
    }
    if activation is not None:
        faults |= {
            "no activation": without("activation", of=gemm),
            "C behind": lambda **each: gemm(**each, early=True),
        }
        attributes["activation"] = activation
    return Asked("FusedGemm", inputs, gemm, faults, attributes)


def conv(
    *,
    X: Array,
    W: Array,
    B: Array | None = None,
    Z: Array | None = None,
    activation: str | None = None,
    pads: tuple[int, ...] = (0, 0, 0, 0),
    strides: tuple[int, ...] = (1, 1),
    group: int = 1,
    behind: bool = False,
) -> Array:
    """Element by element of the output."""
    padded = np.pad(X, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    own, (high, wide) = W.shape[1], W.shape[2:]
    shape = [(padded.shape[at + 2] - W.shape[at + 2]) // strides[at] + 1 for at in range(2)]
    found = np.zeros((len(X), len(W), *shape))
    for n, m, i, j in np.ndindex(*found.shape):
        start = m // (len(W) // group) * own
        y, x = i * strides[0], j * strides[1]
        found[n, m, i, j] = (padded[n, start : start + own, y : y + high, x : x + wide] * W[m]).sum()
    found = found if B is None else found + B[:, None, None]
    if behind:
        return bent(found, activation) + Z
    return bent(found if Z is None else found + Z, activation)


def convolution(activation: str, group: int, summed: bool) -> Asked:
    inputs = {"X": normal(2, 4, 4, 5), "W": normal(6, 4 // group, 3, 2), "B": normal(6)}
    faults: dict[str, Program] = {name: without(name, of=conv) for name in ("activation", "B")}
    if summed:
        inputs["Z"] = normal(2, 6, 2, 5)
        faults |= {"Z left out": without("Z", of=conv), "Z behind": lambda **each: conv(**each, behind=True)}
    attributes = {"activation": activation, "group": group, "pads": (0, 1, 1, 0), "strides": (2, 1)}
    return Asked("FusedConv", inputs, conv, faults, attributes)


def pool(
    *,
    x: Array,
    kernel_shape: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    ceil_mode: int = 0,
    zeros: bool = False,
) -> Array:
    """Window by window over height and width, padding being no element."""
    lengths = []
    for at in range(2):
        room = x.shape[at + 1] + pads[at] + pads[at + 2] - kernel_shape[at]
        lengths.append((-(-room // strides[at]) if ceil_mode else room // strides[at]) + 1)
    found = np.zeros((x.shape[0], *lengths, x.shape[3]))
    for n, i, j, c in np.ndindex(*found.shape):
        places = [
            (i * strides[0] - pads[0] + y, j * strides[1] - pads[1] + z) for y, z in np.ndindex(*kernel_shape)
        ]
        inside = [(y, z) for y, z in places if 0 <= y < x.shape[1] and 0 <= z < x.shape[2]]
        elements = [int(x[n, y, z, c]) for y, z in inside]
        found[n, i, j, c] = max(elements + [0] * (zeros and len(inside) < len(places)))
    return found


def pooled(kind: str, **attributes: Any) -> Asked:
    low, high = (-128, 0) if kind == "int8" else (0, 256)
    inputs = {"x": draw.integers(low, high, (2, 5, 4, 3)).astype(kind)}
    given = {"kernel_shape": (3, 2), "strides": (2, 2), "pads": (1, 1, 1, 0), **attributes}
    faults: dict[str, Program] = {"channels second": lambda x, **each: pool(x=x.swapaxes(1, 3), **each)}
    if kind == "int8":
        faults["padding of zeros"] = lambda **each: pool(**each, zeros=True)
    return Asked("NhwcMaxPool", inputs, pool, faults, given)


def group_norm(
    *,
    X: Array,
    gamma: Array,
    beta: Array,
    skip: Array | float = 0.0,
    bias: Array | float = 0.0,
    groups: int,
    activation: int,
    channels_last: int = 1,
    epsilon: float,
    strided: bool = False,
) -> tuple[Array, ...]:
    """Image by image, group by group, channels last."""
    moved = X if channels_last else np.moveaxis(X, 1, -1)
    spread = skip if isinstance(skip, float) or channels_last else np.moveaxis(skip, 1, -1)
    if not isinstance(spread, float):
        spread = spread.reshape((len(X), *((1, 1) if spread.ndim == 2 else spread.shape[1:3]), -1))
    added = moved + spread + bias
    found = np.zeros(added.shape)
    for image, at in np.ndindex(len(added), groups):
        size = added.shape[3] // groups
        own = slice(at, None, groups) if strided else slice(at * size, (at + 1) * size)
        part = added[image, :, :, own]
        scaled = (part - part.mean()) / math.sqrt(part.var() + epsilon)
        found[image, :, :, own] = scaled * gamma[own] + beta[own]
    found = found / (1 + np.exp(-found)) if activation else found
    return (found, added) if channels_last else (np.moveaxis(found, -1, 1), np.moveaxis(added, -1, 1))


def grouped(name: str, activation: int, channels_last: int, **inputs: Array) -> Asked:
    shape = (2, 2, 3, 6) if channels_last else (2, 6, 2, 3)
    given = {"X": normal(*shape), "gamma": normal(6), "beta": normal(6), **inputs}
    faults: dict[str, Program] = {
        "channels in turn": lambda **each: group_norm(**each, strided=True),
        "the other activation": lambda activation, **each: group_norm(activation=1 - activation, **each),
        **{f"{each} left out": without(each, of=group_norm) for each in inputs},
    }
    attributes = {"groups": 3, "activation": activation, "channels_last": channels_last, "epsilon": 2.0**-10}
    return Asked(name, given, group_norm, faults, attributes, 2 if name == "SkipGroupNorm" else 1)


def embedded(
    *,
    input_ids: Array,
    word_embedding: Array,
    position_embedding: Array,
    gamma: Array,
    beta: Array,
    segment_ids: Array | None = None,
    segment_embedding: Array | None = None,
    mask: Array | None = None,
    position_ids: Array | None = None,
    epsilon: float,
    counted: bool = False,
) -> tuple[Array, ...]:
    """Word by word."""
    batch, length = input_ids.shape
    added = np.zeros((batch, length, len(gamma)))
    for b, at in np.ndindex(batch, length):
        place = at if position_ids is None else position_ids[b % len(position_ids), at]
        added[b, at] = word_embedding[input_ids[b, at]] + position_embedding[place]
        if segment_ids is not None and segment_embedding is not None:
            added[b, at] += segment_embedding[segment_ids[b, at]]
    apart = added - added.mean(-1, keepdims=True)
    found = apart / np.sqrt((apart**2).mean(-1, keepdims=True) + epsilon) * gamma + beta
    words = []
    for row in np.zeros((batch, length)) if mask is None else mask:
        kept = [bool(each) for each in row]
        words.append(sum(kept) if counted or all(kept) else kept.index(False))
    return found, np.array(words), added


def embedding(**inputs: Array) -> Asked:
    places = {"input_ids": draw.integers(0, 5, (2, 4)).astype(np.int32)}
    tables = {"word_embedding": normal(5, 8), "position_embedding": normal(6, 8)}
    given = {**places, **tables, "gamma": normal(8), "beta": normal(8), **inputs}
    faults: dict[str, Program] = {
        f"{name} left out": without(name, of=embedded)
        for name in ("segment_ids", "position_ids", "mask")
        if name in inputs
    }
    if "mask" in inputs:
        faults["all words"] = lambda **each: embedded(**each, counted=True)
    return Asked("EmbedLayerNormalization", given, embedded, faults, {"epsilon": 2.0**-10}, 3)


def spectrum(X: Array, *, signal_ndim: int = 1, complete: bool = False, scaled: bool = False) -> Array:
    found = np.fft.fft(X) if complete else np.fft.rfft(X)
    parts = np.stack([found.real, found.imag], axis=-1)
    return parts / X.shape[-1] if scaled else parts


def signal(X: Array, *, signal_ndim: int = 1, scaled: bool = True, turned: int = 1) -> Array:
    """As numpy.fft has it, of the first bins; `turned` conjugates them."""
    count = 2 * (X.shape[-2] - 1)
    found = np.fft.irfft(X[..., 0] + turned * 1j * X[..., 1], count)
    return found if scaled else found * count


SAMPLES: Mapping[str, Program] = {
    "all bins": lambda X, **_: spectrum(X, complete=True),
    "over their number": lambda X, **_: spectrum(X, scaled=True),
}
BINS: Mapping[str, Program] = {
    "not over their number": lambda X, **_: signal(X, scaled=False),
    "backwards": lambda X, **_: signal(X, turned=-1),
}


def sampled(
    X: Array, Grid: Array, mode: str, padding_mode: str, align_corners: int, fault: str = ""
) -> Array:
    """By loops over fractions."""
    way = Way(faults=[fault] if fault else [])
    kind = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return grid_sample(way, X, Grid, kind, padding_mode, align_corners).astype(np.float64)


def image(mode: str, padding: str, aligned: int) -> Asked:
    inputs = {"X": normal(1, 2, 4, 5), "Grid": draw.integers(-45, 46, (1, 3, 4, 2)).astype(np.float32) / 32}
    names = ["x and y exchanged", "half a pixel off", *(["cubic -0.5"] if mode == "bicubic" else [])]
    faults: dict[str, Program] = {name: partial(sampled, fault=name) for name in names}
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    return Asked("GridSample", inputs, sampled, faults, attributes)


def whole(*rows: Any) -> Array:
    return np.array(rows, dtype=np.int32)


EACH = (
    Asked("Rfft", {"X": normal(2, 3, 10)}, spectrum, SAMPLES, {"signal_ndim": 1}),
    Asked("Rfft", {"X": normal(16)}, spectrum, SAMPLES, {"signal_ndim": 1}),
    Asked("Irfft", {"X": normal(3, 5, 2)}, signal, BINS, {"signal_ndim": 1}),
    Asked(
        "Irfft",
        {"X": normal(2, 2)},
        signal,
        {"not over their number": BINS["not over their number"]},
        {"signal_ndim": 1},
    ),
    image("bilinear", "zeros", 0),
    image("bilinear", "border", 1),
    image("nearest", "reflection", 0),
    image("bicubic", "zeros", 1),
    image("bicubic", "reflection", 0),
    embedding(mask=whole([1, 1, 0, 1], [1, 1, 1, 1]), position_ids=whole([5, 0, 1, 2])),
    embedding(segment_ids=whole([0, 1, 1, 0], [2, 2, 0, 1]), segment_embedding=normal(3, 8)),
    embedding(position_ids=whole([5, 0, 1, 2], [1, 1, 4, 3])),
    product("Relu", transA=1),
    product("LeakyRelu", activation_alpha=0.25, alpha=0.5, beta=2.0),
    product("Sigmoid", transB=1),
    product("Tanh", beta=0.5),
    convolution("Relu", 2, summed=True),
    convolution("Tanh", 1, summed=False),
    convolution("Sigmoid", 4 // 2, summed=False),
    pooled("int8"),
    pooled("uint8", ceil_mode=1),
    grouped("GroupNorm", 1, 1),
    grouped("GroupNorm", 0, 0),
    grouped("SkipGroupNorm", 1, 1, skip=normal(2, 6), bias=normal(6)),
    grouped("SkipGroupNorm", 0, 1, skip=normal(2, 1, 1, 6)),
    grouped("SkipGroupNorm", 0, 0, skip=normal(2, 6, 2, 3), bias=normal(6)),
)


@pytest.mark.parametrize("asked", EACH, ids=lambda asked: f"{asked.name}-{','.join(asked.inputs)}")
def test_answers_are_those_of_loops_and_faults_are_noticed(asked: Asked) -> None:
    hold(asked)
