"""Decoding and encoding against numpy and ml_dtypes, exhaustively where a type is narrow."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from reference.numbers.numbers import (
    decode,
    encode,
    is_representable,
    largest,
    layout_of,
    numbers,
    smallest_subnormal,
    storage_of,
)
from tests.library_dtypes import DTYPES

NARROW = [ELEMENT_TYPES[name] for name in DTYPES if ELEMENT_TYPES[name].bits <= 16]


def every_bit_pattern(element_type: ElementType) -> NDArray[Any]:
    return storage_of(element_type, np.arange(1 << element_type.bits, dtype=np.uint64))


def library_values(element_type: ElementType, storage: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        values: NDArray[np.float64] = storage.view(DTYPES[element_type.name]).astype(np.float64)
    return values


@pytest.mark.parametrize("element_type", NARROW, ids=str)
def test_every_narrow_element_decodes_as_its_library_says(element_type: ElementType) -> None:
    storage = every_bit_pattern(element_type)
    wanted = library_values(element_type, storage)
    got = np.array([float(number) for number in numbers(element_type, storage)])
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize("element_type", NARROW, ids=str)
def test_every_narrow_element_survives_decoding_and_encoding(element_type: ElementType) -> None:
    storage = every_bit_pattern(element_type)
    again = encode(element_type, numbers(element_type, storage))
    wanted = np.isnan(library_values(element_type, storage))
    got = np.isnan(library_values(element_type, again))
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(again[~wanted].view("u1"), storage[~wanted].view("u1"))


def expected_of(element_type: ElementType, value: float) -> Any:
    """A float64 rounded once by the type's library; ml_dtypes goes through float32, so that it is asked for
    values alone that float32 holds.
    """
    with np.errstate(over="ignore"):
        return np.array(value, np.float64).astype(DTYPES[element_type.name])


@pytest.mark.parametrize("element_type", [ELEMENT_TYPES[name] for name in DTYPES], ids=str)
def test_rounding_is_to_nearest_even_between_all_neighbours(element_type: ElementType) -> None:
    rng = np.random.default_rng(7)
    span = min(element_type.bits, 16)
    bits = (
        rng.integers(0, 1 << element_type.bits, 2000, dtype=np.uint64) if span < element_type.bits else None
    )
    storage = every_bit_pattern(element_type) if bits is None else storage_of(element_type, bits)
    finite = [number for number in numbers(element_type, storage) if isinstance(number, Fraction)]
    ordered = sorted(set(finite))
    for low, high in pairwise(ordered[:400]):
        middle = (low + high) / 2
        near_low, near_high = (2 * low + high) / 3, (low + 2 * high) / 3
        got = numbers(element_type, encode(element_type, [near_low, near_high, middle]))
        if span == element_type.bits:
            assert [Fraction(each) for each in got[:2]] == [low, high]
            assert Fraction(got[2]) in (low, high)
        for exact, each in zip((near_low, near_high, middle), got, strict=True):
            assert abs(Fraction(each) - exact) <= high - low


@settings(max_examples=150, deadline=None)
@given(st.floats(allow_nan=False, width=64), st.sampled_from(["float", "double", "float16"]))
def test_numpy_rounds_float64_the_same_way(value: float, name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    got = encode(element_type, [Fraction(value) if math.isfinite(value) and value else value])
    assert got[0] == expected_of(element_type, value)


@settings(max_examples=150, deadline=None)
@given(st.floats(allow_nan=False, width=32), st.sampled_from([dtype.name for dtype in NARROW]))
def test_ml_dtypes_rounds_float32_the_same_way(value: float, name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    got = encode(element_type, [Fraction(value) if math.isfinite(value) and value else value])
    wanted = expected_of(element_type, value).astype(np.float64)
    np.testing.assert_array_equal(got.view(DTYPES[name]).astype(np.float64)[0], wanted)


@settings(max_examples=150, deadline=None)
@given(st.fractions(), st.sampled_from(list(DTYPES)))
def test_no_element_lies_nearer(value: Fraction, name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    (got,) = numbers(element_type, encode(element_type, [value]))
    if not math.isfinite(got):
        assert abs(value) > largest(layout_of(element_type))
        return
    storage = encode(element_type, [value])
    bits = int(storage.view(f"u{storage.itemsize}")[0])
    neighbours = [
        number
        for step in (-1, 1)
        if 0 <= bits + step < 1 << element_type.bits
        for number in numbers(element_type, storage_of(element_type, np.array([bits + step], np.uint64)))
        if math.isfinite(number)
    ]
    assert all(abs(Fraction(got) - value) <= abs(Fraction(neighbour) - value) for neighbour in neighbours)


def test_double_rounding_does_not_happen() -> None:
    # Just above the middle of two float16 neighbours, by less than float32 can tell.
    value = 1 + Fraction(1, 2**11) + Fraction(1, 2**40)
    assert encode(ELEMENT_TYPES["float16"], [value])[0] == np.float16(1 + 2**-10)
    assert encode(ELEMENT_TYPES["bfloat16"], [1 + Fraction(1, 2**8) + Fraction(1, 2**60)])[0] == 0x3F81


def test_overflow_and_underflow() -> None:
    half = ELEMENT_TYPES["float16"]
    assert encode(half, [65519, 65520, -65520]).tolist() == [65504.0, np.inf, -np.inf]
    tiny = smallest_subnormal(layout_of(half))
    got = encode(half, [tiny / 2, tiny * Fraction(51, 100), -tiny / 4])
    assert got.tolist() == [0.0, float(tiny), 0.0]
    assert bool(np.signbit(got[2]))


def test_integers_decode_to_themselves() -> None:
    decoded = decode(ELEMENT_TYPES["uint64"], np.array([[0, 2**64 - 1]], np.uint64))
    assert decoded.integers.tolist() == [[0, 2**64 - 1]]
    assert decoded.exponent == 0
    assert numbers(ELEMENT_TYPES["int4"], np.array([-8, 7], np.int8)) == [-8, 7]


def test_zero_dimensional_and_empty_arrays() -> None:
    assert numbers(ELEMENT_TYPES["float"], np.array(1.5, np.float32)) == [Fraction(3, 2)]
    assert numbers(ELEMENT_TYPES["float"], np.zeros((0, 2), np.float32)) == []


@settings(max_examples=100, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(1, 9))
def test_representable_numbers_are_those_that_rounding_keeps(value: float, divisor: int) -> None:
    exact = Fraction(value) / divisor
    (kept,) = numbers(ELEMENT_TYPES["float"], encode(ELEMENT_TYPES["float"], [exact]))
    assert is_representable(layout_of(ELEMENT_TYPES["float"]), exact.numerator, exact.denominator) == (
        kept == exact
    )


POWERS = ELEMENT_TYPES["float8e8m0"]


def test_powers_of_two_decode_as_ml_dtypes_has_them_and_survive() -> None:
    every = np.arange(256, dtype=np.uint8)
    got = numbers(POWERS, every)
    wanted = every.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    np.testing.assert_array_equal([float(each) for each in got], wanted)
    np.testing.assert_array_equal(encode(POWERS, got), every)


@settings(max_examples=150, deadline=None)
@given(st.floats(width=32))
def test_ml_dtypes_rounds_to_powers_of_two_the_same_way(value: float) -> None:
    wanted = np.array([value], np.float32).astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    assert encode(POWERS, [value]).tolist() == wanted.tolist()


def test_a_type_without_nan_saturates_and_refuses_nan() -> None:
    small = ELEMENT_TYPES["float4e2m1"]
    assert numbers(small, encode(small, [math.inf, -math.inf, 1000, -7])) == [6, -6, 6, -6]
    with pytest.raises(ValueError, match="float4e2m1 has no NaN"):
        encode(small, [math.nan])
