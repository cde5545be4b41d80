"""Values of tensors and attributes as short text that tells every two apart; the order of types."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.suite.values import decode_floats
from opcert.vocabulary.attributes import AttributeValue
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reports.text.phrasing import count

_LONGEST_STRING = 40
FEW = 64
"""A tensor with at most this many elements is shown whole, a larger one by its first ten."""


def element_text(value: Any, element_type: ElementType) -> str:
    """One element in its storage form as text, in the fewest digits that tell it from its neighbours."""
    if element_type.kind == "string":
        raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
        text = " ".join(raw[: 8 * _LONGEST_STRING].decode("utf-8", "backslashreplace").split())
        cut = len(text) > _LONGEST_STRING or len(raw) > 8 * _LONGEST_STRING
        return repr(f"{text[:_LONGEST_STRING]} …" if cut else text)
    if element_type.kind == "bool":
        return "true" if value else "false"
    if element_type.is_integer:
        return str(int(value))
    if element_type.kind == "complex":
        sign = "" if str(value.imag).startswith(("-", "n")) else "+"
        return f"{_float_text(value.real)}{sign}{_float_text(value.imag)}i"
    if element_type.is_float and np.dtype(element_type.storage).kind != "f":
        bits = np.asarray([value], dtype=element_type.storage)
        return _float_text(np.float32(decode_floats(element_type, bits)[0]))
    return _float_text(value)


def _float_text(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Inf" if number > 0 else "-Inf"
    text = str(value)
    return text.removesuffix(".0")


def shape_text(tensor: Tensor) -> str:
    """Element type and full shape: `float [2, 3]`."""
    return f"{tensor.element_type} {list(tensor.shape)}"


def values_text(tensor: Tensor) -> str:
    """The values of a tensor in row-major order: all where they are few, else the first and their number."""
    number = tensor.array.size
    if number == 0:
        return "(no elements)"
    flat = tensor.array.reshape(-1)
    first = flat[: number if number <= FEW else 10]
    text = " ".join(element_text(each, tensor.element_type) for each in first)
    return text if number <= FEW else f"{text} … ({count(number)})"


def attribute_text(value: AttributeValue) -> str:
    """An attribute's value as people write it: `cubic`, `-0.75`, `[0, 1]`."""
    if isinstance(value, tuple):
        inside = ", ".join(attribute_text(each) for each in value[:24])
        return f"[{inside}, … ({len(value)})]" if len(value) > 24 else f"[{inside}]"
    if isinstance(value, float):
        return _float_text(np.float32(value))
    if isinstance(value, Tensor):
        return f"{shape_text(value)} {values_text(value)}"
    return str(value) if str(value) else "(empty)"


@dataclass(frozen=True)
class ViewedValue:
    """A name and a value: a tensor has `type` (element type and full shape) beside its abbreviated values."""

    name: str
    values: str
    type: str = ""
    marked: bool = False


_KINDS = ("float", "signed", "unsigned", "bool", "string", "complex")
_FIRST = ("float", "float16", "bfloat16", "double")


def type_rank(name: str) -> tuple[int, int, int]:
    """The place of an element type among others; one that is not known comes last."""
    found = ELEMENT_TYPES.get(name)
    if found is None:
        return len(_KINDS), 0, 0
    first = _FIRST.index(name) if name in _FIRST else len(_FIRST)
    return _KINDS.index(found.kind), first, found.code


def in_type_order(names: Iterable[str]) -> list[str]:
    """Each name once, in order."""
    return sorted(set(names), key=lambda name: (type_rank(name), name))
