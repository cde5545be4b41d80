"""Steps of training, several tensors at once, beside the pseudo code of the pages in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator

Floats = NDArray[np.float64]
SETTINGS = {"norm_coefficient": 0.25, "alpha": 0.75, "beta": 0.875}


def stepped(name: str, T: int, groups: list[list[Floats]], **attributes: Any) -> list[tuple[Floats, Floats]]:
    """What the reference answers in float64, with the distances that it allows."""
    operator = find_operator(OperatorName("ai.onnx.preview.training", name, 1))
    inputs = tuple(tensor(each) for group in groups for each in group)
    given: dict[str, Any] = {"R": tensor(np.array(0.5)), "T": tensor(np.array(T, np.int64)), "inputs": inputs}
    found = operator.evaluate(attributes, given)
    return [(each.expected.array, np.zeros(1) if each.allowed is None else each.allowed) for each in found]


def drawn(groups: int) -> list[list[Floats]]:
    generator = np.random.default_rng(3)
    found = [[generator.normal(size=shape) for shape in ((2, 3), (), (4,))] for _ in range(groups)]
    return [*found[:-1], [np.abs(each) for each in found[-1]]]


def compare(found: list[tuple[Floats, Floats]], wanted: list[Floats]) -> None:
    assert len(found) == len(wanted)
    for (got, allowed), right in zip(found, wanted, strict=True):
        assert got.shape == right.shape
        assert np.all(np.abs(got - right) <= allowed + 1e-15 * np.abs(right))
        assert np.all(allowed <= 1e-12)


@pytest.mark.parametrize("mode", ["standard", "nesterov"])
@pytest.mark.parametrize("T", [0, 1, 10**9])
def test_momentum(mode: str, T: int) -> None:
    groups = drawn(3)
    regular = [0.25 * x + g for x, g, _ in zip(*groups, strict=True)]
    beta = 0.875 if T > 0 else 1.0
    averages = [0.75 * v + beta * g for v, g in zip(groups[2], regular, strict=True)]
    ways = averages if mode == "standard" else [g + 0.75 * v for g, v in zip(regular, averages, strict=True)]
    wanted = [x - 0.5 * way for x, way in zip(groups[0], ways, strict=True)] + averages
    compare(stepped("Momentum", T, groups, mode=mode, **SETTINGS), wanted)


@pytest.mark.parametrize("T", [0, 3, 10**9])
def test_adagrad(T: int) -> None:
    groups = drawn(3)
    regular = [0.25 * x + g for x, g, _ in zip(*groups, strict=True)]
    squares = [h + g * g for h, g in zip(groups[2], regular, strict=True)]
    rate = 0.5 / (1 + T * 0.125)
    parts = zip(groups[0], regular, squares, strict=True)
    wanted = [x - rate * g / (np.sqrt(h) + 0.0625) for x, g, h in parts] + squares
    settings = {"norm_coefficient": 0.25, "decay_factor": 0.125, "epsilon": 0.0625}
    compare(stepped("Adagrad", T, groups, **settings), wanted)


@pytest.mark.parametrize("T", [0, 1, 7, 10**9])
def test_adam(T: int) -> None:
    groups = drawn(4)
    regular = [0.25 * x + g for x, g in zip(*groups[:2], strict=True)]
    averages = [0.75 * v + 0.25 * g for v, g in zip(groups[2], regular, strict=True)]
    squares = [0.875 * h + 0.125 * g * g for h, g in zip(groups[3], regular, strict=True)]
    rate = 0.5 * np.sqrt(1 - 0.875**T) / (1 - 0.75**T) if T > 0 else 0.5
    parts = zip(groups[0], averages, squares, strict=True)
    wanted = [0.5 * (x - rate * v / (np.sqrt(h) + 0.0625)) for x, v, h in parts] + averages + squares
    compare(stepped("Adam", T, groups, epsilon=0.0625, norm_coefficient_post=0.5, **SETTINGS), wanted)
