"""Pad of ONNX in all its versions, against lists of indices that are grown and cut one by one."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from tests.reference.loops import Index, answer, built, distinct, some_shape


def padded(extent: int, begin: int, end: int, mode: str) -> list[int | None]:
    """The index that each position of the output comes from; None for the constant."""
    held: list[int | None] = [*range(max(-begin, 0), extent + min(end, 0))]
    left, right = list[int | None](), list[int | None]()
    for distance in range(max(begin, end, 0)):
        near = held[:1] if mode == "edge" else held[distance + 1 :] if mode == "reflect" else []
        far = held[-1:] if mode == "edge" else held[: len(held) - distance - 1] if mode == "reflect" else []
        if mode == "wrap":
            near = [held[-1 - distance % len(held)]]
            far = [held[distance % len(held)]]
        left.insert(0, None if mode == "constant" else near[0])
        right.append(None if mode == "constant" else far[-1] if mode != "wrap" else far[0])
    return [*left[len(left) - max(begin, 0) :], *held, *right[: max(end, 0)]]


def amounts(random: Random, extent: int, mode: str) -> tuple[int, int]:
    if mode == "wrap":
        return (random.randint(0, 2 * extent), random.randint(0, 2 * extent)) if extent else (0, 0)
    cut = random.randint(0, max(extent - 1, 0)) if random.random() < 0.4 else 0
    most = max(extent - cut - 1, 0) if mode == "reflect" else 3 if extent or mode == "constant" else 0
    pair = (-cut if cut else random.randint(0, most), random.randint(0, most))
    return pair if random.random() < 0.5 else (pair[1], pair[0])


@pytest.mark.parametrize(("version", "mode"), [
    (version, mode) for version in (2, 11, 18, 25) for mode in ("constant", "edge", "reflect", "wrap")
    if mode != "wrap" or version >= 19
])  # fmt: skip
def test_pad(version: int, mode: str) -> None:
    random = Random(f"{version}{mode}")
    for _ in range(200):
        X = distinct(random, some_shape(random, 0, 3))
        if version == 2:
            X = Tensor(ELEMENT_TYPES["double"], np.arange(X.array.size, dtype=np.float64).reshape(X.shape))
        rank = len(X.shape)
        axes = (
            sorted(random.sample(range(rank), random.randint(0, rank)))
            if version >= 18
            else list(range(rank))
        )
        pairs = [amounts(random, X.shape[axis], mode) for axis in axes]
        pads = [*(begin for begin, _ in pairs), *(end for _, end in pairs)]
        by_axis = dict(zip(axes, pairs, strict=True))
        sources = [padded(n, *by_axis.get(axis, (0, 0)), mode) for axis, n in enumerate(X.shape)]
        given = random.random() < 0.5 and X.element_type.name != "string"
        blank: Any = b"" if X.element_type.name == "string" else 7 if given else 0

        def source(at: Index, X: Tensor = X, sources: Any = sources, blank: Any = blank) -> Any:
            taken = [each[i] for each, i in zip(sources, at, strict=True)]
            return blank if None in taken else X.array[tuple(taken)]

        wanted = built(X.element_type.name, [len(each) for each in sources], source)
        if version == 2:
            fill = {"value": 7.0} if given else {}
            assert answer("Pad", 2, {"data": X}, pads=tuple(pads), mode=mode, **fill) == wanted
            continue
        named = [axis - rank if random.random() < 0.5 else axis for axis in axes]
        inputs = {"data": X, "pads": pads, "constant_value": tensor(7, X.element_type) if given else None}
        inputs |= {"axes": named} if version >= 18 else {}
        assert answer("Pad", version, inputs, mode=mode) == wanted


def test_what_is_wrapped_of_a_tensor_that_is_cut_as_well() -> None:
    reference = find_operator(OperatorName("ai.onnx", "Pad", 19))
    asked = {"data": tensor([1, 2, 3, 4]), "pads": tensor([3, -2])}
    found = {
        option: reference.evaluate({"mode": "wrap"}, asked, {"torus": option})[0].expected.array.tolist()
        for option in ("of_data", "of_what_is_left")
    }
    assert found == {"of_data": [2, 3, 4, 1, 2], "of_what_is_left": [2, 1, 2, 1, 2]}


@pytest.mark.parametrize("value", [-0.0, 0.1, float("inf")])
def test_a_value_is_rounded_to_the_type(value: float) -> None:
    X = tensor([1.0], "float16")
    got = answer("Pad", 2, {"data": X}, pads=(1, 0), value=float(np.float32(value)))
    assert got.array.tobytes() == np.array([value, 1.0], np.float16).tobytes()
