from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.errors import UserError


@given(st.floats(allow_nan=False, min_value=-1e30, max_value=1e30))
def test_floats_are_rounded_to_float32_once(value: float) -> None:
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    assert attribute("float", value) == Attribute("float", rounded)
    assert attribute("floats", [value]) == Attribute("floats", (rounded,))


def test_an_empty_list_keeps_its_kind() -> None:
    assert attribute("ints", []) != attribute("floats", [])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", True),
        ("int", 1.5),
        ("string", 1),
        ("ints", "12"),
        ("ints", [1, "a"]),
        ("integer", 1),
        ("float", "1"),
    ],
)
def test_values_of_another_kind_are_refused(kind: str, value: object) -> None:
    with pytest.raises(UserError, match="kind"):
        attribute(kind, value)
