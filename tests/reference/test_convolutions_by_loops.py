"""Convolutions against plain loops in double precision and, in several orders, in float32."""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from tests.reference.loops import answer, answers, indices
from tests.reference.test_number_arrays import accepted
from tests.reference.windows_by_loops import some_sliding


def drawn(random: Random, shape: tuple[int, ...], name: str = "float") -> Tensor:
    """Numbers with fractions, or integers of the type's own range."""
    if name == "float":
        return tensor(np.array([random.gauss(0, 2) for _ in indices(shape)]).reshape(shape), name)
    low, high = (0, 255) if name == "uint8" else (-128, 127)
    return tensor(np.array([random.randint(low, high) for _ in indices(shape)]).reshape(shape), name)


def products(terms: list[tuple[float, float]], bias: float) -> float:
    return sum(one * other for one, other in terms) + bias


def in_float32(terms: list[tuple[float, float]], bias: float, *, first: bool) -> Any:
    """Summed one after the other, with the bias before or behind; in either direction."""
    found = np.float32(bias if first else 0)
    for one, other in terms if first else reversed(terms):
        found = found + np.float32(one) * np.float32(other)
    return found if first else found + np.float32(bias)


def compare(terms: dict[tuple[int, ...], list[tuple[float, float]]], B: Tensor | None, got: Any) -> None:
    shape = got.expected.shape
    assert len(terms) == prod(shape)
    exact, forward, backward = (np.zeros(shape) for _ in range(3))
    for index, these in terms.items():
        bias = 0.0 if B is None else float(B.array[index[1]])
        exact[index] = products(these, bias)
        forward[index] = in_float32(these, bias, first=True)
        backward[index] = in_float32(these, bias, first=False)
    np.testing.assert_allclose(got.expected.array, exact, rtol=1e-6, atol=1e-6)
    assert accepted(got, forward).all()
    assert accepted(got, backward).all()


def groups(random: Random) -> tuple[int, int, int]:
    """How many groups, and how many channels and features each of them has."""
    return random.randint(1, 3), random.randint(1, 2), random.randint(1, 2)


def test_sums_over_windows() -> None:
    random = Random(3)
    for _ in range(200):
        window = some_sliding(random, most=4)
        group, channels, features = groups(random)
        X = drawn(random, (random.randint(1, 2), group * channels, *window.extents))
        W = drawn(random, (group * features, channels, *window.kernel))
        B = drawn(random, (group * features,)) if random.random() < 0.5 else None
        told = {**window.attributes, "group": group}
        (got,) = answers("Conv", 11, {"X": X, "W": W, "B": B}, **told)
        assert got.expected.shape == (X.shape[0], group * features, *window.lengths)
        terms: dict[tuple[int, ...], list[tuple[float, float]]] = {}
        for index in indices(got.expected.shape):
            image, feature, *output = index
            at = feature // features * channels
            terms[index] = [
                (float(X.array[(image, at + each, *place)]), float(W.array[(feature, each, *offset)]))
                for offset, place, inside, _ in window.window(tuple(output))
                if inside
                for each in range(channels)
            ]
        compare(terms, B, got)


@pytest.mark.parametrize("name", ["int8", "uint8"])
def test_integers_without_their_zero_points(name: str) -> None:
    random = Random(name)
    for _ in range(150):
        window = some_sliding(random, most=4)
        group, channels, features = groups(random)
        x = drawn(random, (1, group * channels, *window.extents), name)
        w = drawn(random, (group * features, channels, *window.kernel), "int8")
        each_has = random.random() < 0.5
        zero, zeros = drawn(random, (), name), drawn(random, (group * features,) if each_has else (), "int8")
        given = {"x": x, "w": w, "x_zero_point": zero, "w_zero_point": zeros}
        got = answer("ConvInteger", 10, given, **window.attributes, group=group)
        assert got.element_type.name == "int32"
        for index in indices(got.shape):
            _, feature, *output = index
            at = feature // features * channels
            weight = int(zeros.array[feature] if each_has else zeros.array)
            wanted = sum(
                (int(x.array[(0, at + each, *place)]) - int(zero.array))
                * (int(w.array[(feature, each, *offset)]) - weight)
                for offset, place, inside, _ in window.window(tuple(output))
                if inside
                for each in range(channels)
            )
            assert got.array[index] == wanted


def laid_out(
    X: Tensor, W: Tensor, group: int, strides: tuple[int, ...], dilations: tuple[int, ...]
) -> dict[tuple[int, ...], list[tuple[float, float]]]:
    """By image, feature and place what is summed there before anything is cut away or added."""
    found: dict[tuple[int, ...], list[tuple[float, float]]] = {}
    features, channels = W.shape[1], X.shape[1] // group
    for image, channel, *place in indices(X.shape):
        for feature, *offset in indices(W.shape[1:]):
            at = tuple(p * s + o * d for p, o, s, d in zip(place, offset, strides, dilations, strict=True))
            index = (image, channel // channels * features + feature, *at)
            pair = float(X.array[(image, channel, *place)]), float(W.array[(channel, feature, *offset)])
            found.setdefault(index, []).append(pair)
    return found


def test_kernels_laid_over_each_other() -> None:
    random = Random(4)
    for number in range(250):
        rank = random.choice([1, 1, 2, 2, 3])
        most = 2 if rank == 3 else 3
        extents, kernel, strides, dilations = (
            tuple(random.randint(1, each) for _ in range(rank)) for each in (most, most, 3, 2)
        )
        added = tuple(random.randrange(max(pair)) for pair in zip(strides, dilations, strict=True))
        full = [
            (extents[at] - 1) * strides[at] + (kernel[at] - 1) * dilations[at] + 1 + added[at]
            for at in range(rank)
        ]
        group, channels, features = groups(random)
        X = drawn(random, (random.randint(1, 2), group * channels, *extents))
        W = drawn(random, (group * channels, features, *kernel))
        B = drawn(random, (group * features,)) if random.random() < 0.5 else None
        told: dict[str, Any] = {"strides": strides, "dilations": dilations, "output_padding": added}
        lengths, begins = [], []
        automatic = random.choice(["SAME_UPPER", "SAME_LOWER"])
        way = ("pads", "shape", "same")[number % 3]
        if way == "same" and any(n * s > most for n, s, most in zip(extents, strides, full, strict=True)):
            way = "shape"
        if way == "pads":
            cut = [(random.randint(0, 1), random.randint(0, 1)) if each > 2 else (0, 0) for each in full]
            told["pads"] = (*(begin for begin, _ in cut), *(end for _, end in cut))
            begins = [begin for begin, _ in cut]
            lengths = [each - sum(ends) for each, ends in zip(full, cut, strict=True)]
        else:
            lengths = [n * s for n, s in zip(extents, strides, strict=True)]
            if way == "shape":
                lengths = [random.randint(1, each) for each in full]
                told["output_shape"] = tuple(lengths)
            told["auto_pad"] = automatic
            for each, length in zip(full, lengths, strict=True):
                less, more = (each - length) // 2, -((length - each) // 2)
                begins.append(less if automatic == "SAME_UPPER" else more)
        (got,) = answers("ConvTranspose", 11, {"X": X, "W": W, "B": B}, **told, group=group)
        shape = (X.shape[0], group * features, *lengths)
        assert got.expected.shape == shape
        known = laid_out(X, W, group, strides, dilations)
        moved = {}
        for index in indices(shape):
            place = tuple(at + begin for at, begin in zip(index[2:], begins, strict=True))
            moved[index] = known.get((*index[:2], *place), [])
        compare(moved, B, got)


def test_the_side_of_an_odd_element_is_open_without_same() -> None:
    X, W = (tensor(np.array([[each]], np.float32)) for each in ([1.0], [1.0, 2.0]))
    for version, automatic, sides in ((11, "NOTSET", 2), (11, "SAME_LOWER", 1), (1, "SAME_LOWER", 2)):
        found: set[float] = set()
        for option in ("more_at_begin", "more_at_end"):
            operator = find_operator(OperatorName("ai.onnx", "ConvTranspose", version))
            call: dict[str, Any] = {"auto_pad": automatic, "output_shape": (1,)}
            (got,) = operator.evaluate(call, {"X": X, "W": W}, {"odd_padding": option})
            found.add(got.expected.array.item())
        assert len(found) == sides


def test_an_infinite_weight_on_padding_is_open() -> None:
    X = tensor(np.array([[[1.0, 2.0]]], np.float32))
    W = tensor(np.array([[[np.inf, 1.0]]], np.float32))
    (got,) = answers("Conv", 11, {"X": X, "W": W}, pads=(1, 0))
    assert got.allowed is not None
    assert np.isinf(got.allowed[0, 0, 0])
    assert got.expected.array[0, 0, 1] == np.inf
