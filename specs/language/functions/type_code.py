"""The number of an element type in ONNX's TensorProto."""

from __future__ import annotations

from opcert.vocabulary.element_types import find_element_type


def type_code(element_type: str) -> int:
    """The number by the type's name."""
    return find_element_type(element_type).code
