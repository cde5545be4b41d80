"""Element types as TensorFlow calls them."""

from __future__ import annotations

from opcert.vocabulary.element_types import find_element_type
from opcert.vocabulary.errors import UserError

_TYPES = {"float8_e5m2": "float8e5m2", "float8_e4m3fn": "float8e4m3fn",
          "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e4m3fnuz": "float8e4m3fnuz"}  # fmt: skip


def our_type(name: str) -> str:
    """Our name of an element type; TensorFlow's own where we have none (quantised types, resources)."""
    name = name.removeprefix("tf.")
    try:
        return find_element_type(_TYPES.get(name, name)).name
    except UserError:
        return name


def is_type(name: str) -> bool:
    """Whether a word names an element type, ours or one that only TensorFlow has."""
    if name in _OF_TENSORFLOW:
        return True
    try:
        find_element_type(_TYPES.get(name, name))
    except UserError:
        return False
    return True


_OF_TENSORFLOW = frozenset(
    [
        "resource",
        "variant",
        "qint8",
        "quint8",
        "qint16",
        "quint16",
        "qint32",
        "int2",
        "uint2",
        "float4_e2m1fn",
    ]
)
