"""QuantizeLinear and DequantizeLinear against numpy, ml_dtypes, honest programs and faulty ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.registry import find_operator
from tests.library_dtypes import ML_DTYPES

Array = NDArray[Any]
Quotient = Callable[[Array, Array], Array]
NARROW = {kind: dtype for kind, dtype in ML_DTYPES.items() if kind != "bfloat16"}
INTEGERS = ("uint8", "int8", "uint16", "int16", "uint4", "int4", "uint2", "int2")
HONEST: dict[str, Quotient] = {
    "divided": lambda x, s: x / s,
    "by the reciprocal": lambda x, s: x * (np.float32(1) / s),
    "in double": lambda x, s: x.astype(np.float64) / s.astype(np.float64),
}


def singles(numbers: Any) -> Array:
    return np.array(numbers, np.float32)


def of_kind(array: Any, kind: str = "float") -> Tensor:
    element_type = ELEMENT_TYPES[kind]
    if kind in NARROW:
        return Tensor(element_type, np.asarray(array, np.float32).astype(NARROW[kind]).view(np.uint8))
    return tensor(np.asarray(array).astype(element_type.storage), element_type)


def answered(
    name: str,
    inputs: dict[str, Tensor],
    version: int = 28,
    reading: dict[str, str] | None = None,
    **more: int,
) -> Answer:
    operator = find_operator(OperatorName("ai.onnx", name, version))
    return operator.evaluate(more, inputs, reading)[0]


def accepts(answer: Answer, got: Array) -> Array:
    """Which elements are within what is allowed, or among what is listed."""
    assert answer.allowed is not None
    expected = answer.expected.array
    near = np.abs(got.astype(np.float64) - expected.astype(np.float64)) <= answer.allowed
    for place, others in (answer.alternatives or {}).items():
        near.reshape(-1)[place] |= got.reshape(-1)[place] in others
    return np.asarray(near)


def program(quotient: Quotient, x: Array, s: Array, z: Array, kind: str) -> Array:
    low, high = ELEMENT_TYPES[kind].integer_range
    return np.asarray(np.clip(np.rint(quotient(x, s)) + z, low, high))


def data_of(kind: str, turn: int) -> tuple[Array, Array, Array]:
    """Elements at and beside ties of the steps and ends of the range, scales of an axis, zero points."""
    random = np.random.default_rng([turn, len(kind)])
    low, high = ELEMENT_TYPES[kind].integer_range
    s = random.choice(singles([0.1, 0.25, 3, 0.7, 1, 2, 1e-3]), (1, 6))
    z = random.integers(low, high + 1, (1, 6))
    steps = random.integers(low - 3, high + 4, (40, 6)) - z + random.choice([0, 0.5, -0.5, 0.25], (40, 6))
    return (steps * s).astype(np.float32), s, z


@pytest.mark.parametrize("kind", INTEGERS)
def test_honest_programs_are_accepted(kind: str) -> None:
    for turn in range(4):
        x, s, z = data_of(kind, turn)
        given = {"x": of_kind(x), "y_scale": of_kind(s[0]), "y_zero_point": of_kind(z[0], kind)}
        answer = answered("QuantizeLinear", given, axis=1)
        for name, quotient in HONEST.items():
            assert accepts(answer, program(quotient, x, s, z, kind)).all(), name


@pytest.mark.parametrize("kind", INTEGERS)
def test_faults_are_not(kind: str) -> None:
    x, s, z = data_of(kind, 7)
    s = singles([[0.5, 1, 2, 0.25, 4, 8]])  # exact ties
    low, high = ELEMENT_TYPES[kind].integer_range
    z = z | 1 if low == 0 else np.clip(z | 1, low, high)
    steps = np.arange(-120, 120).reshape(40, 6) / 4
    x = (steps * s).astype(np.float32)
    given = {"x": of_kind(x), "y_scale": of_kind(s[0]), "y_zero_point": of_kind(z[0], kind)}
    answer = answered("QuantizeLinear", given, axis=1)
    quotient = x / s
    assert accepts(answer, program(HONEST["divided"], x, s, z, kind)).all()
    faults = {
        "half up": np.floor(quotient + 0.5) + z,
        "half away": np.trunc(quotient + np.copysign(0.5, quotient)) + z,
        "truncated": np.trunc(quotient) + z,
        "zero point before rounding": np.rint(quotient + z),
        "zero point left out": np.rint(quotient),
        "scale of the next": np.rint(x / np.roll(s, 1)) + z,
        "multiplied": np.rint(x * s) + z,
    }
    for name, found in faults.items():
        assert not accepts(answer, np.clip(found, low, high)).all(), name
    wrapped = (np.rint(quotient) + z - low) % (high - low + 1) + low
    beyond = np.any((np.rint(quotient) + z > high) | (np.rint(quotient) + z < low))
    assert not beyond or not accepts(answer, wrapped).all()


@pytest.mark.parametrize("kind", NARROW)
def test_narrow_floats_are_those_of_ml_dtypes(kind: str) -> None:
    x = np.random.default_rng(3).normal(0, 40, 500).astype(np.float32)
    answer = answered(
        "QuantizeLinear",
        {"x": of_kind(x), "y_scale": of_kind(np.float32(1))},
        output_dtype=ELEMENT_TYPES[kind].code,
    )
    limits: Any = ml_dtypes.finfo(NARROW[kind])  # type: ignore[no-untyped-call] # it has no types
    expected = np.clip(x, float(limits.min), float(limits.max)).astype(NARROW[kind]).view(np.uint8)
    assert answer.expected.array.tolist() == expected.tolist()
    assert answer.allowed is not None
    assert not answer.allowed.any()


@pytest.mark.parametrize(
    ("kind", "saturate", "values"),
    [
        ("float8e4m3fn", 1, [448, 448, -448, np.nan, 448, 448]),
        ("float8e4m3fn", 0, [np.nan, np.nan, np.nan, np.nan, 448, np.nan]),
        ("float8e5m2", 0, [np.inf, 448, -np.inf, np.nan, 448, 512]),
        ("float8e4m3fnuz", 1, [240, 240, -240, np.nan, 240, 240]),
        ("float8e4m3fnuz", 0, [np.nan, np.nan, np.nan, np.nan, np.nan, np.nan]),
    ],
)
def test_what_is_out_of_range(kind: str, saturate: int, values: list[float]) -> None:
    x = singles([np.inf, 465, -np.inf, np.nan, 464, 480])
    given = {"x": of_kind(x), "y_scale": of_kind(np.float32(1))}
    found = answered("QuantizeLinear", given, output_dtype=ELEMENT_TYPES[kind].code, saturate=saturate)
    got = found.expected.array.view(NARROW[kind]).astype(np.float32)
    np.testing.assert_array_equal(got, singles(values))


def test_an_infinity_in_types_without_negative_zero_is_open_until_version_23() -> None:
    given = {
        "x": of_kind([np.inf]),
        "y_scale": of_kind(np.float32(1)),
        "y_zero_point": of_kind(0, "float8e4m3fnuz"),
    }
    asked: set[str] = set()
    operator = find_operator(OperatorName("ai.onnx", "QuantizeLinear", 21))
    operator.evaluate({}, given, asked=asked)
    assert "infinity_to_fnuz" in asked
    assert operator.evaluate({}, given, {"infinity_to_fnuz": "nan"})[0].expected.array[0] == 0x80
    asked.clear()
    find_operator(OperatorName("ai.onnx", "QuantizeLinear", 24)).evaluate({}, given, asked=asked)
    assert "infinity_to_fnuz" not in asked


def test_not_a_number_becomes_any_integer_and_infinities_the_ends() -> None:
    given = {"x": of_kind([np.nan, np.inf, -np.inf]), "y_scale": of_kind(np.float32(1))}
    answer = answered("QuantizeLinear", given, output_dtype=3)
    assert answer.allowed is not None
    assert answer.allowed.tolist() == [np.inf, 0, 0]
    assert answer.expected.array.tolist()[1:] == [127, -128]


def test_a_division_in_half_precision_leaves_both_integers() -> None:
    # 1000.6 is no number of float16; the nearest one is 1000.5, half-way between two integers.
    given = {"x": of_kind([1000.6]), "y_scale": of_kind(np.float32(1))}
    plain = answered("QuantizeLinear", given, output_dtype=5)
    half = answered(
        "QuantizeLinear", given, reading={"accumulation_type": "input"}, output_dtype=5, precision=10
    )
    assert accepts(half, np.array([1001])).all()
    assert accepts(half, np.array([1000])).all()
    assert accepts(plain, np.array([1001])).all()
    assert not accepts(plain, np.array([1000])).all()


def test_blocks_share_a_scale() -> None:
    x = np.arange(-30, 30, dtype=np.float32).reshape(3, 5, 4)
    for axis, size in ((0, 2), (1, 3), (-1, 4), (1, 5), (2, 1)):
        count = -(-x.shape[axis] // size)
        shape = [count if at == axis % 3 else extent for at, extent in enumerate(x.shape)]
        s = np.float32(2) ** (np.arange(np.prod(shape)).reshape(shape) % 3)
        z = np.arange(np.prod(shape)).reshape(shape) % 7
        index = np.indices(x.shape)
        index[axis] //= size
        each = tuple(index)
        given = {"x": of_kind(x), "y_scale": of_kind(s), "y_zero_point": of_kind(z, "int8")}
        answer = answered("QuantizeLinear", given, axis=axis, block_size=size)
        assert (answer.expected.array == np.rint(x / s[each]) + z[each]).all()
        back = {"x": answer.expected, "x_scale": of_kind(s), "x_zero_point": of_kind(z, "int8")}
        found = answered("DequantizeLinear", back, axis=axis, block_size=size)
        assert (found.expected.array == np.rint(x / s[each]) * s[each]).all()


@pytest.mark.parametrize("kind", [*INTEGERS, *NARROW, "int32"])
def test_dequantised_numbers_are_products(kind: str) -> None:
    random = np.random.default_rng(len(kind))
    if kind in NARROW:
        x, z = random.choice(singles([0, 0.5, 1, -1.5, 4, -6]), 60), 1
    else:
        low, high = ELEMENT_TYPES[kind].integer_range
        x, z = random.integers(low, high + 1, 60), 0 if kind == "int32" else max(high // 3, 1)
    for scale in singles([0.1, 2, 1e-3, 3]):
        given = {"x": of_kind(x, kind), "x_scale": of_kind(scale), "x_zero_point": of_kind(z, kind)}
        answer = answered("DequantizeLinear", given)
        distance = x.astype(np.float64) - z
        assert accepts(answer, distance.astype(np.float32) * scale).all()
        assert accepts(answer, (distance * np.float64(scale)).astype(np.float32)).all()
        for fault in (x * scale, distance / scale, (distance + 1) * scale):
            assert kind == "int32" or not accepts(answer, fault.astype(np.float32)).all()


def test_the_output_type_is_that_of_the_multiplication() -> None:
    given = {"x": of_kind([100, 101, -7], "int8"), "x_scale": of_kind(np.float32(0.1))}
    answer = answered("DequantizeLinear", given, output_dtype=10)
    assert answer.expected.element_type.name == "float16"
    exact = (np.array([100, 101, -7]) * np.float64(np.float32(0.1))).astype(np.float16)
    assert (answer.expected.array == exact).all()
    half = answered("DequantizeLinear", given, reading={"accumulation_type": "input"}, output_dtype=10)
    assert accepts(half, np.array([100, 101, -7], np.float16) * np.float16(0.1)).all()


def test_a_program_of_few_bits_may_have_elements_and_zero_points_in_its_own_type_first() -> None:
    x, zero = np.array([-32767, 32767, 5]), np.array(-32768)
    inputs = {
        "x": of_kind(x, "int16"),
        "x_scale": of_kind(np.float32(1)),
        "x_zero_point": of_kind(zero, "int16"),
    }
    narrow = ELEMENT_TYPES["bfloat16"].code
    own = (x.astype(ml_dtypes.bfloat16) - zero.astype(ml_dtypes.bfloat16)).astype(ml_dtypes.bfloat16)
    for precision, accepted in (("float32", False), ("input", True)):
        found = answered(
            "DequantizeLinear", inputs, reading={"accumulation_type": precision}, output_dtype=narrow
        )
        expected = found.expected.array.view(ml_dtypes.bfloat16).astype(np.float64)
        assert found.allowed is not None
        assert bool((np.abs(own.astype(np.float64) - expected) <= found.allowed).all()) == accepted
