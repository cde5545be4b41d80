"""Elements as numbers that people and JSON can read, for every element type."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.canonical import number_name
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType

JsonNumber = int | float | str | bool
_NATIVE_FLOATS = frozenset(
    name
    for name, element_type in ELEMENT_TYPES.items()
    if element_type.is_float and np.dtype(element_type.storage).kind == "f"
)
_BFLOAT16 = ELEMENT_TYPES["bfloat16"]


def is_native_float(element_type: ElementType) -> bool:
    """Whether numpy itself computes with this floating-point type."""
    return element_type.name in _NATIVE_FLOATS


def decode_floats(element_type: ElementType, storage: NDArray[Any]) -> NDArray[np.float64]:
    """The values of floating-point elements as float64, exactly; `storage` as in `Tensor.array`."""
    if storage.dtype == np.float64:
        return storage
    with np.errstate(invalid="ignore"):  # widening a signalling NaN
        return decode_loudly(element_type, storage)


def decode_loudly(element_type: ElementType, storage: NDArray[Any]) -> NDArray[np.float64]:
    """The same as `decode_floats`; numpy may warn of a signalling NaN where its warnings are not put off."""
    if is_native_float(element_type):
        return np.asarray(storage, dtype=np.float64)
    if element_type is _BFLOAT16:
        return np.asarray((storage.astype(np.uint32) << 16).view(np.float32), dtype=np.float64)
    return np.asarray(_small_float_table(element_type.name)[storage])


def decode_float(element_type: ElementType, element: Any) -> float:
    """The value of one floating-point element in storage."""
    if is_native_float(element_type):
        return float(element)
    return float(decode_floats(element_type, np.asarray(element).reshape(1))[0])


@cache
def _small_float_table(name: str) -> NDArray[np.float64]:
    """The value of each byte that stands for an element of at most 8 bits; NaN where it stands for none."""
    kind = ELEMENT_TYPES[name]
    table = np.full(256, math.nan)
    for pattern in range(1 << kind.bits):
        table[pattern] = _small_float(kind, pattern)
    table.setflags(write=False)
    return table


def _small_float(kind: ElementType, pattern: int) -> float:
    layout = kind.layout
    if layout is None:  # float8e8m0: powers of two alone
        return math.nan if pattern == 0xFF else math.ldexp(1.0, pattern - 127)
    sign_bit = 1 << (kind.bits - 1)
    fraction_bits = layout.precision - 1
    top = (1 << layout.exponent_bits) - 1
    sign = -1.0 if pattern & sign_bit else 1.0
    exponent = (pattern >> fraction_bits) & top
    fraction = pattern & ((1 << fraction_bits) - 1)
    full = exponent == top and fraction == (1 << fraction_bits) - 1
    if (layout.nan == "negative_zero" and pattern == sign_bit) or (layout.nan == "all_ones" and full):
        return math.nan
    if layout.nan == "ieee" and exponent == top:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(fraction, layout.least_exponent - fraction_bits)
    return sign * math.ldexp(fraction + (1 << fraction_bits), exponent - layout.bias - fraction_bits)


def element_to_json(element_type: ElementType, storage: Any) -> JsonNumber | list[JsonNumber]:
    """One element as JSON has it: NaN, infinities and 64-bit integers as strings, complex as a pair.

    Floating-point numbers have the fewest digits that give the same element again.
    """
    if element_type.kind == "string":
        return bytes(storage).decode("utf-8", "backslashreplace")
    if element_type.kind == "bool":
        return bool(storage)
    if element_type.is_integer:
        return str(int(storage)) if element_type.bits == 64 else int(storage)
    if element_type.kind == "complex":
        return [_float_to_json(storage.real), _float_to_json(storage.imag)]
    if is_native_float(element_type):
        return _float_to_json(storage)
    return _float_to_json(decode_float(element_type, storage))


def _float_to_json(value: Any) -> float | str:
    if not math.isfinite(value):
        return number_name(float(value))
    return float(str(value))
