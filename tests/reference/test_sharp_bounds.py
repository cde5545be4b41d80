"""Where a result has few roundings the bound is their sum: honest programs come near to it, none beyond."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator

Array = NDArray[Any]
ONE = np.float32(1)


def share(operator: str, inputs: Mapping[str, Array], got: Array) -> float:
    """The worst element's distance from the expectation, over what is allowed."""
    (answer,) = find_operator(OperatorName.parse(operator)).evaluate(
        {}, {name: tensor(given) for name, given in inputs.items()}
    )
    expected, allowed = answer.expected.array.astype(np.float64), answer.allowed
    assert allowed is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(got.astype(np.float64).reshape(expected.shape) - expected)
        return float(np.where(apart == 0, 0.0, apart / allowed).max())


def single(*numbers: str) -> list[np.float32]:
    return [np.float32(float.fromhex(number)) for number in numbers]


def test_a_quotient_by_the_reciprocal_nearly_reaches_its_bound() -> None:
    a, b = single("0x1.01d6620000000p+0", "0x1.fe76120000000p+0")
    found = share("ai.onnx::Div-14", {"A": np.array([a]), "B": np.array([b])}, np.array([a * (ONE / b)]))
    assert 0.99 < found <= 1


def test_a_mean_by_the_reciprocal_nearly_reaches_its_bound() -> None:
    given = np.zeros((1, 1, 63), np.float32)
    (given[0, 0, 0],) = single("0x1.f808620000000p+0")
    got = given[0, 0, :1] * (ONE / np.float32(63))
    assert 0.98 < share("ai.onnx::GlobalAveragePool-22", {"X": given}, got) <= 1


def test_two_products_and_their_sum_nearly_reach_their_bound() -> None:
    a, b, c, d = single(
        "0x1.007f6a0000000p+0", "0x1.00aacc0000000p+0", "0x1.009ce20000000p+0", "0x1.0025880000000p+0"
    )
    inputs = {"A": np.array([[a, c]]), "B": np.array([[b], [d]])}
    assert 0.99 < share("ai.onnx::MatMul-13", inputs, np.array([[a * b + c * d]])) <= 1
    farther = np.nextafter(np.nextafter(a * b + c * d, np.float32(0)), np.float32(0))
    nearer = np.nextafter(np.nextafter(a * b + c * d, np.float32(4)), np.float32(4))
    assert max(share("ai.onnx::MatMul-13", inputs, np.array([[each]])) for each in (farther, nearer)) > 1


@pytest.mark.parametrize(("a", "b"), [(3.0, 2.0**126 * 1.7), (7e5, 2.0**127 * 1.3), (1e30, 3e38)])
def test_a_quotient_by_a_subnormal_reciprocal_is_accepted(a: float, b: float) -> None:
    """It is off by as much as the reciprocal lost below the smallest normal number, times the dividend."""
    one, other = np.array([a], np.float32), np.array([b], np.float32)
    got = one * (ONE / other)
    assert 0 < float(ONE / other[0]) < np.finfo(np.float32).tiny
    assert share("ai.onnx::Div-14", {"A": one, "B": other}, got) <= 1
    off = got * np.float32(1 + 2.0**-18)
    assert share("ai.onnx::Div-14", {"A": one, "B": other}, off) > 1


def test_a_reciprocal_beyond_the_greatest_number_leaves_infinity_and_a_flushed_one_zero() -> None:
    operator = find_operator(OperatorName.parse("ai.onnx::Div-14"))
    beyond = {"A": tensor([3.0], "float"), "B": tensor([1e-39], "float")}
    (answer,) = operator.evaluate({}, beyond)
    assert math.inf in (answer.alternatives or {})[0]
    (answer,) = operator.evaluate({}, {"A": tensor([3.0], "float"), "B": tensor([1e-37], "float")})
    assert not answer.alternatives
    asked: set[str] = set()
    tiny = {"A": tensor([1e30], "float"), "B": tensor([3e38], "float")}
    (answer,) = operator.evaluate({}, tiny, {"subnormals": "flushed"}, asked)
    assert "subnormals" in asked
    assert answer.allowed is not None
    assert answer.allowed[0] >= float(answer.expected.array[0])
