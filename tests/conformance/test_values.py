"""Elements as JSON has them, and the values of the types that numpy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from conformance.suite.values import decode_floats, element_to_json
from opcert.vocabulary.element_types import ELEMENT_TYPES


@pytest.mark.parametrize(
    ("name", "storage", "printed"),
    [
        ("float", np.float32(0.1), 0.1),
        ("double", np.float64(math.inf), "Infinity"),
        ("float16", np.float16(math.nan), "NaN"),
        ("bfloat16", np.uint16(0x3F80), 1.0),
        ("float8e4m3fn", np.uint8(0x7F), "NaN"),
        ("float8e5m2", np.uint8(0xFC), "-Infinity"),
        ("float8e8m0", np.uint8(0), 2.0**-127),
        ("float8e8m0", np.uint8(255), "NaN"),
        ("float4e2m1", np.uint8(0x0F), -6.0),
        ("int2", np.int8(-2), -2),
        ("int64", np.int64(2**60), str(2**60)),
        ("int8", np.int8(-5), -5),
        ("bool", np.bool_(True), True),
        ("string", b"\xffa", "\\xffa"),
        ("complex64", np.complex64(1 - 2j), [1.0, -2.0]),
    ],
)
def test_elements_are_printed_as_json_has_them(name: str, storage: Any, printed: Any) -> None:
    assert element_to_json(ELEMENT_TYPES[name], storage) == printed


def test_small_floats_are_decoded_as_ml_dtypes_has_them() -> None:
    import ml_dtypes

    for name, theirs in {
        "float8e4m3fn": ml_dtypes.float8_e4m3fn,
        "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "float8e5m2": ml_dtypes.float8_e5m2,
        "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
        "float8e8m0": ml_dtypes.float8_e8m0fnu,
        "float4e2m1": ml_dtypes.float4_e2m1fn,
        "float6e2m3": ml_dtypes.float6_e2m3fn,
        "float6e3m2": ml_dtypes.float6_e3m2fn,
    }.items():
        every = np.arange(1 << ELEMENT_TYPES[name].bits, dtype=np.uint8)
        ours = decode_floats(ELEMENT_TYPES[name], every)
        np.testing.assert_array_equal(ours, every.view(theirs).astype(np.float64))
    bits = np.arange(65536).astype(np.uint16)
    with np.errstate(invalid="ignore"):
        wanted = bits.view(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(decode_floats(ELEMENT_TYPES["bfloat16"], bits), wanted)


def test_a_byte_that_is_no_element_of_float4_is_no_number() -> None:
    assert np.isnan(decode_floats(ELEMENT_TYPES["float4e2m1"], np.arange(16, 256).astype(np.uint8))).all()
