"""Patterns of values: arithmetic, narrower types, limits, special values, in the types that can show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ELEMENT_TYPES
from tests.conformance.wrong_answers import (
    FLOATS,
    INTEGERS,
    SHAPE,
    Array,
    draw,
    encode,
    pattern_of,
)


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_arithmetic_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    one: Any = np.dtype(element_type.storage).type(1)
    expected = draw(element_type, 1) // 2 * 2
    assert pattern_of(name, expected, expected + 3 * one) == "every element is off by 3"
    assert pattern_of(name, expected, expected * (2 * one)) == "every element is scaled by 2"
    assert pattern_of(name, expected, expected // (2 * one)) == "every element is scaled by 1/2"
    if element_type.kind == "signed":
        assert pattern_of(name, expected, -expected) == "every element has the other sign"
        assert pattern_of(name, expected, expected - 3 * one) == "every element is off by -3"


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("bounded", [False, True])
def test_arithmetic_in_floats_is_recognised(name: str, bounded: bool) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    values = decode_floats(element_type, expected)
    allowed = np.full(SHAPE, 1e-3) if bounded else None

    def named(got: Array) -> str | None:
        return pattern_of(name, expected, encode(element_type, got), allowed)

    assert str(named(values + 4)).startswith("every element is off by ")
    assert named(values * -1) == "every element has the other sign"
    assert named(values * 2) == "every element is scaled by 2"
    assert str(named(values * 0.7)).startswith("every element is scaled by 0.")


@pytest.mark.parametrize("name", FLOATS)
def test_a_shift_is_recognised_through_rounding_noise(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    noise = np.random.default_rng(2).integers(0, 2, SHAPE).astype(f"u{expected.itemsize}")
    got = (np.roll(expected, 1, 3).view(noise.dtype) + noise).view(expected.dtype)
    allowed = np.full(SHAPE, 0.1)
    said = pattern_of(name, expected, got, allowed)
    assert said == "the expected output shifted by one towards the end of axis 3"
    assert pattern_of(name, expected, got) is None


@pytest.mark.parametrize(
    ("name", "narrow", "said"),
    [
        ("double", "float", "computed in or converted through float32"),
        ("double", "float16", "computed in or converted through float16"),
        ("double", "bfloat16", "computed in or converted through bfloat16"),
        ("float", "float16", "computed in or converted through float16"),
        ("float", "bfloat16", "computed in or converted through bfloat16"),
        ("complex128", "complex64", "computed in or converted through float32"),
        ("int64", "int32", "the expected output wrapped to int32"),
        ("int64", "int16", "the expected output wrapped to int16"),
        ("uint64", "uint32", "the expected output wrapped to uint32"),
        ("int32", "int16", "the expected output wrapped to int16"),
        ("int64", "double", "computed in or converted through float64"),
        ("int64", "float", "computed in or converted through float32"),
        ("int32", "float", "computed in or converted through float32"),
    ],
)
def test_narrower_types_are_recognised(name: str, narrow: str, said: str) -> None:
    wide, through = ELEMENT_TYPES[name], ELEMENT_TYPES[narrow]
    expected = draw(wide, 1)
    if narrow == "bfloat16":
        got = decode_floats(through, encode(through, expected)).astype(wide.storage)
    else:
        got = expected.astype(through.storage).astype(wide.storage)
    assert pattern_of(name, expected, got) == said


def test_a_computation_in_a_narrower_type_is_recognised_by_its_elements() -> None:
    expected = draw(ELEMENT_TYPES["double"], 1)
    got = np.nextafter(expected.astype(np.float32), np.float32(9)).astype(np.float64)
    assert pattern_of("double", expected, got) == "computed in or converted through float32"
    # Whole numbers are float16 numbers too, but far from what was expected.
    whole = np.random.default_rng(1).integers(-9, 9, SHAPE).astype(np.float64)
    assert pattern_of("double", expected, whole) is None


@pytest.mark.parametrize("name", ["int64", "uint64", "int32"])
def test_saturation_to_a_narrower_type_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    narrow = {"int64": "int32", "uint64": "int32", "int32": "int16"}[name]
    low, high = ELEMENT_TYPES[narrow].integer_range
    expected = draw(element_type, 1)
    expected.reshape(-1)[::2] %= 100
    got = np.clip(expected, max(low, element_type.integer_range[0]), high)
    assert pattern_of(name, expected, got) == f"the expected output saturated to {narrow}"


@pytest.mark.parametrize("name", ["float", "double", "float16"])
def test_whole_numbers_in_place_of_fractions_are_recognised(name: str) -> None:
    expected = draw(ELEMENT_TYPES[name], 1)
    for way, word in ((np.trunc, "truncated"), (np.rint, "rounded"), (np.floor, "rounded down")):
        assert pattern_of(name, expected, way(expected)) == f"the expected output {word} to whole numbers"


@pytest.mark.parametrize("name", INTEGERS)
def test_whole_numbers_off_by_one_in_one_direction_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    fractions = np.random.default_rng(1).uniform(-30 if element_type.kind == "signed" else 0, 30, SHAPE)
    expected = np.rint(fractions).astype(element_type.storage)
    down, zero = (way(fractions).astype(element_type.storage) for way in (np.floor, np.trunc))
    assert pattern_of(name, expected, down) == "every wrong element is one too small"
    if element_type.kind == "signed":
        said = "every wrong element is one too near to zero, as truncation makes it"
        assert pattern_of(name, expected, zero) == said
        assert pattern_of(name, zero, expected) == "every wrong element is one too far from zero"


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_clipping_is_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    values = decode_floats(element_type, expected) if element_type.is_float else expected
    low, high = (expected.reshape(-1)[np.argsort(values.reshape(-1))[each]] for each in (60, 240))
    below, beyond = (
        values < values.reshape(-1)[np.argsort(values.reshape(-1))[60]],
        values > values.reshape(-1)[np.argsort(values.reshape(-1))[240]],
    )
    got = expected.copy()
    got[beyond] = high
    assert str(pattern_of(name, expected, got)).startswith("the expected output clipped to at most ")
    got[below] = low
    assert " and at least " in str(pattern_of(name, expected, got))


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS, "float8e5m2"])
def test_saturation_at_the_types_limit_and_its_absence_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    ordinary = draw(element_type, 1)
    where = np.random.default_rng(4).random(SHAPE) > 0.8
    infinite = {"bfloat16": 0x7F80, "float8e5m2": 0x7C}.get(name, np.inf)
    limit = element_type.integer_range[1] if element_type.is_integer else infinite
    full = np.where(where, np.asarray(limit).astype(element_type.storage), ordinary)
    stands = expected = "infinite"
    if element_type.is_integer:
        low, high = element_type.integer_range
        stands, expected = str(high), f"{low} or {high}" if low else str(high)
        least = np.where(where, np.asarray(low).astype(element_type.storage), ordinary)
        said = "every wrong element is the limit of its type opposite to the expected one"
        assert pattern_of(name, full, least) == said
        if low:
            assert pattern_of(name, ordinary, least) == f"saturated: every wrong element is {low}"
        else:
            assert pattern_of(name, ordinary, least) is None
    assert pattern_of(name, ordinary, full) == f"saturated: every wrong element is {stands}"
    said = f"wrong only where {expected.replace('infinite', 'infinity')} is expected"
    assert pattern_of(name, full, ordinary) == said


@pytest.mark.parametrize("name", ["float", "double", "float16"])
def test_special_values_are_recognised(name: str) -> None:
    element_type = ELEMENT_TYPES[name]
    expected = draw(element_type, 1)
    where = np.random.default_rng(3).random(SHAPE) > 0.7
    zeros = np.where(where, np.zeros_like(expected), expected)
    assert pattern_of(name, zeros, np.where(where, -zeros, zeros)) == "wrong only in the sign of zero"
    nan = np.where(where, np.full_like(expected, np.nan), expected)
    assert pattern_of(name, expected, nan) == "every wrong element is NaN"
    assert pattern_of(name, nan, expected) == "wrong only where NaN is expected"
    tiny = np.where(where, np.full_like(expected, np.finfo(expected.dtype).tiny / 4), expected)
    said = "wrong only where subnormal numbers are expected: they are zero"
    assert pattern_of(name, tiny, zeros) == said
