"""Inverse, BiasSoftmax and GatherBlockQuantized against NumPy in double, and planted faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator

Array = NDArray[Any]
draw = np.random.default_rng(7)


def answer(operator: str, attributes: dict[str, Any], **inputs: Array | Tensor) -> Answer:
    given = {name: each if isinstance(each, Tensor) else tensor(each) for name, each in inputs.items()}
    return find_operator(OperatorName("com.microsoft", operator, 1)).evaluate(attributes, given)[0]


def outside(expected: Answer, found: Array) -> int:
    """How many elements no honest program has, with half a unit more for what double rounds."""
    wide = expected.expected.array.astype(np.float64)
    if wide.shape != found.shape:
        return max(wide.size, 1)
    assert expected.allowed is not None
    allowed = expected.allowed + np.abs(wide) * 2.0**-24
    return int(np.count_nonzero(~(np.abs(wide - found) <= allowed)))


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_inverses_are_those_of_double_and_of_elimination_in_float(order: int) -> None:
    matrices = draw.normal(0, 1, (3, order, order)).astype(np.float32)
    found = answer("Inverse", {}, X=matrices)
    exact = np.linalg.inv(matrices.astype(np.float64))
    assert outside(found, exact) == 0
    np.testing.assert_allclose(found.expected.array, exact, rtol=2.0**-22, atol=1e-6)
    assert outside(found, np.linalg.inv(matrices).astype(np.float64)) == 0
    assert outside(found, exact + np.abs(exact).max() * 2.0**-6) == exact.size
    if order > 1:
        assert outside(found, exact.swapaxes(-1, -2))


def test_what_has_no_inverse_may_become_anything() -> None:
    found = answer("Inverse", {}, X=np.array([[[1, 2], [2, 4]], [[1, 2], [2, 5]]], dtype=np.float32))
    assert found.allowed is not None
    assert np.isinf(found.allowed[0]).all()
    np.testing.assert_array_equal(found.expected.array[1], [[5, -2], [-2, 1]])
    assert outside(found, np.array([[[0, 0], [0, 0]], [[5, -2], [-2, 2]]])) == 1


@pytest.mark.parametrize("inner", [0, 1])
@pytest.mark.parametrize("axis", [1, 2])
def test_a_bias_is_added_before_the_softmax_of_a_matrix(inner: int, axis: int) -> None:
    data = draw.normal(0, 2, (3, 2, 5)).astype(np.float32)
    shape = (3, *(1,) * (axis - 1), *data.shape[axis:]) if inner else (1, 2, 5)
    bias = draw.normal(0, 2, shape).astype(np.float32)
    found = answer("BiasSoftmax", {"axis": axis, "is_inner_broadcast": inner}, data=data, bias=bias)

    def shares(added: Array, split: int) -> Array:
        rows = np.exp(added.reshape((int(np.prod(added.shape[:split])), -1)))
        return np.asarray((rows / rows.sum(-1, keepdims=True)).reshape(added.shape))

    wide = data.astype(np.float64) + bias
    assert outside(found, shares(wide, axis)) == 0
    np.testing.assert_allclose(found.expected.array, shares(wide, axis), rtol=2.0**-22)
    assert outside(found, shares(data.astype(np.float64), axis))
    assert outside(found, shares(wide, 3 - axis))


def packed(whole: Array, bits: int) -> Array:
    """Numbers of a last axis in bytes, as one great integer whose lowest bits come first."""
    rows = []
    for row in whole.reshape((-1, whole.shape[-1])).tolist():
        count = -(-len(row) * bits // 8)
        number = sum(element << (bits * at) for at, element in enumerate(row))
        rows.append(list(number.to_bytes(count, "little")))
    return np.array(rows, dtype=np.uint8).reshape((*whole.shape[:-1], -1))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("kind", ["uint8 of 4", "uint8 of 8", "int4", "uint4"])
def test_slices_of_a_table_are_those_of_its_numbers(kind: str, zeros: bool) -> None:
    rows, columns, block = 5, 38, 16
    bits = 8 if kind == "uint8 of 8" else 4
    low = -8 if kind == "int4" else 0
    whole = draw.integers(low, low + (1 << bits), (rows, columns))
    points = draw.integers(low, low + (1 << bits), (rows, 3))
    scales = draw.uniform(0.1, 2, (rows, 3)).astype(np.float32)
    places = np.array([[3, 0], [-1, 3]], dtype=np.int64)
    named = kind.split(" ", maxsplit=1)[0]

    def held(numbers: Array) -> Tensor:
        if named == "uint8":
            return tensor(packed(numbers, bits))
        return tensor(numbers, ELEMENT_TYPES[named])

    inputs: dict[str, Array | Tensor] = {"data": held(whole), "indices": places, "scales": scales}
    if zeros:
        inputs["zero_points"] = held(points)
    found = answer("GatherBlockQuantized", {"bits": bits, "block_size": block}, **inputs)
    middle = 1 << (bits - 1) if named == "uint8" else 0
    wide = points if zeros else np.full((rows, 3), middle)
    at = np.arange(columns) // block
    table = (whole - wide[:, at]) * scales.astype(np.float64)[:, at]
    assert outside(found, table[places]) == 0
    np.testing.assert_array_equal(found.expected.array, table[places].astype(np.float32))
    assert outside(found, table[np.abs(places)])
    assert outside(found, ((whole - wide[:, at]) * scales[:, :1])[places])
    assert outside(found, (whole * scales.astype(np.float64)[:, at])[places]) or not wide.any()
    if bits == 4:
        turned = whole.reshape(rows, -1, 2)[..., ::-1].reshape(whole.shape)
        assert outside(found, ((turned - wide[:, at]) * scales[:, at])[places])
