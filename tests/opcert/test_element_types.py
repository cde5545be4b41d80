from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, element_type_of, find_element_type
from opcert.vocabulary.errors import UserError

ML_NAMES = {
    "bfloat16": "bfloat16",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float4e2m1": "float4_e2m1fn",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
    "float8e8m0": "float8_e8m0fnu",
}


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_names_and_codes_are_those_of_onnx(name: str) -> None:
    assert onnx.TensorProto.DataType.Value(name.upper()) == ELEMENT_TYPES[name].code
    assert BY_CODE[ELEMENT_TYPES[name].code].name == name


@pytest.mark.parametrize(
    "name", [element_type.name for element_type in ELEMENT_TYPES.values() if element_type.layout]
)
def test_layouts_agree_with_numpy_and_ml_dtypes(name: str) -> None:
    layout = ELEMENT_TYPES[name].layout
    assert layout is not None
    dtype = ELEMENT_TYPES[name].storage if name not in ML_NAMES else getattr(ml_dtypes, ML_NAMES[name])
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes leaves it untyped
    assert layout.precision == info.nmant + 1
    assert layout.least_exponent == info.minexp
    assert float(info.max) < 2.0 ** (layout.greatest_exponent) * 2
    assert float(info.max) >= 2.0**layout.greatest_exponent


@pytest.mark.parametrize(
    "name", [element_type.name for element_type in ELEMENT_TYPES.values() if element_type.is_integer]
)
def test_integer_ranges_hold_every_value_of_the_width(name: str) -> None:
    each = ELEMENT_TYPES[name]
    low, high = each.integer_range
    assert high - low + 1 == 2**each.bits
    assert (low < 0) == (each.kind == "signed")


def test_numpy_types_map_to_themselves() -> None:
    for element_type in ELEMENT_TYPES.values():
        if element_type.name not in ML_NAMES and element_type.bits >= 8:
            assert element_type_of(element_type.storage) is element_type
    assert element_type_of(np.dtype("U3")).name == "string"
    with pytest.raises(UserError):
        element_type_of(np.dtype("M8[s]"))


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    assert find_element_type("f32") is ELEMENT_TYPES["float"]
    with pytest.raises(UserError, match="bfloat16"):
        find_element_type("float12")
