"""Elements as exact numbers, and exact numbers as elements, rounded once.

An exact number is a Fraction, or the float NaN, inf, -inf or -0.0. Nothing here goes through a float of
another width, so nothing is rounded twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ElementType, FloatLayout
from reference.numbers.powers_of_two import decode_exponents, encode_power, holds_powers_alone

Number = Fraction | float
"""A Fraction, or one of the floats NaN, inf, -inf and -0.0."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """Exact values of an array: `integers * 2**exponent` where `finite`, else `special`.

    `integers` holds Python ints (0 where not finite), `special` is NaN or an infinity there, 0 elsewhere.
    `wide` says that the elements are integers of more than 16 bits, which float32 does not hold.
    """

    integers: NDArray[Any]
    exponent: int
    finite: NDArray[np.bool_]
    special: NDArray[np.float64]
    wide: bool = False

    @property
    def scale(self) -> Fraction:
        """The value of one unit of `integers`."""
        if self.exponent < 0:
            return Fraction(1, 1 << -self.exponent)
        return Fraction(1 << self.exponent)


def bits_of(array: NDArray[Any]) -> NDArray[np.uint64]:
    """The bit patterns of a floating-point type's elements, as unsigned 64-bit integers."""
    return array.view(f"u{array.dtype.itemsize}").astype(np.uint64)


def storage_of(element_type: ElementType, bits: NDArray[np.uint64]) -> NDArray[Any]:
    """The inverse of `bits_of`."""
    storage = np.dtype(element_type.storage)
    return bits.astype(f"u{storage.itemsize}").view(storage)


def decode(element_type: ElementType, array: NDArray[Any]) -> Decoded:
    """The exact values of an array of a floating-point or integer type, in its storage.

    Raises TypeError on other types; a complex array is decoded one component at a time.
    """
    if element_type.is_integer:
        integers = array.astype(object)
        wide = element_type.bits > 16
        return Decoded(integers, 0, np.ones(array.shape, bool), np.zeros(array.shape), wide)
    bits = bits_of(array)
    if holds_powers_alone(element_type):
        exponents, finite = decode_exponents(bits)
        special = np.where(finite, 0.0, np.nan)
        return _decoded(finite.astype(np.int64), exponents, finite, special)
    layout = layout_of(element_type)
    low = np.uint64(layout.precision - 1)
    negative = (bits >> np.uint64(element_type.bits - 1)).astype(bool)
    magnitude = bits & np.uint64((1 << (element_type.bits - 1)) - 1)
    field = (magnitude >> low).astype(np.int64)
    fraction = (magnitude & np.uint64((1 << (layout.precision - 1)) - 1)).astype(np.int64)
    significand = np.where(field > 0, fraction + (1 << (layout.precision - 1)), fraction)
    powers = np.maximum(field, 1) - layout.bias - (layout.precision - 1)
    if layout.nan == "ieee":
        finite = field < (1 << layout.exponent_bits) - 1
        special = np.where(finite, 0.0, np.where(fraction == 0, np.where(negative, -np.inf, np.inf), np.nan))
    else:
        top = magnitude == np.uint64((1 << (element_type.bits - 1)) - 1)
        nan = {"all_ones": top, "negative_zero": negative & (magnitude == 0)}
        finite = ~nan.get(layout.nan, np.zeros(array.shape, bool))
        special = np.where(finite, 0.0, np.nan)
    significand = np.where(finite, np.where(negative, -significand, significand), 0)
    return _decoded(significand, powers, finite, special)


def _decoded(
    significand: NDArray[Any], powers: NDArray[Any], finite: NDArray[np.bool_], special: NDArray[np.float64]
) -> Decoded:
    used = powers[significand != 0]
    exponent = int(used.min()) if used.size else 0
    shifts = np.where(significand != 0, powers - exponent, 0)
    integers = np.left_shift(significand.astype(object), shifts.astype(object))
    return Decoded(np.asarray(integers, dtype=object).reshape(finite.shape), exponent, finite, special)


def numbers(element_type: ElementType, array: NDArray[Any]) -> list[Number]:
    """The elements of a floating-point or integer array one by one, in row-major order; -0.0 is kept."""
    decoded = decode(element_type, array)
    minus_zero = np.zeros(array.shape, bool)
    if element_type.is_float and not holds_powers_alone(element_type):
        minus_zero = (bits_of(array) == 1 << (element_type.bits - 1)) & decoded.finite
    scale = decoded.scale
    return [
        (-0.0 if minus else integer * scale) if finite else float(special)
        for integer, finite, special, minus in zip(
            decoded.integers.flat, decoded.finite.flat, decoded.special.flat, minus_zero.flat, strict=True
        )
    ]


def layout_of(element_type: ElementType) -> FloatLayout:
    """The layout of a floating-point type; raises TypeError on any other, and on float8e8m0."""
    if element_type.layout is None:
        raise TypeError(f"{element_type} has no sign and significand to round to")
    return element_type.layout


@cache
def largest(layout: FloatLayout) -> Fraction:
    """The greatest finite number of a layout."""
    top = (1 << layout.precision) - (2 if layout.nan == "all_ones" else 1)
    return top * Fraction(2) ** (layout.greatest_exponent - layout.precision + 1)


@cache
def smallest_normal(layout: FloatLayout) -> Fraction:
    """The smallest positive normal number of a layout."""
    return Fraction(2) ** layout.least_exponent


@cache
def smallest_subnormal(layout: FloatLayout) -> Fraction:
    """The smallest positive number of a layout."""
    return Fraction(2) ** (layout.least_exponent - layout.precision + 1)


def _significand(layout: FloatLayout, numerator: int, denominator: int) -> tuple[int, int]:
    """The significand m and exponent e of a positive ratio rounded to nearest, ties to even: `m * 2**e`."""
    power = numerator.bit_length() - denominator.bit_length()
    if (numerator << -power if power < 0 else numerator) < (
        denominator << power if power > 0 else denominator
    ):
        power -= 1
    exponent = max(power, layout.least_exponent) - layout.precision + 1
    if exponent < 0:
        numerator <<= -exponent
    else:
        denominator <<= exponent
    significand, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and significand & 1):
        significand += 1
    return significand, exponent


def encode_bits(element_type: ElementType, numerator: int, denominator: int) -> int:
    """The bit pattern of a ratio (denominator > 0), rounded to nearest, ties to even.

    Beyond the greatest finite number lies infinity, or NaN in a layout that has none, or that number itself
    where it has neither. Zero is positive.
    """
    if holds_powers_alone(element_type):
        return encode_power(Fraction(numerator, denominator))
    layout = layout_of(element_type)
    sign = 1 << (element_type.bits - 1) if numerator < 0 else 0
    if numerator == 0:
        return 0
    significand, exponent = _significand(layout, abs(numerator), denominator)
    most, top = _greatest(layout)
    if exponent > top or (exponent == top and significand > most):
        return _beyond(element_type, sign)
    if significand == 0:
        return 0 if layout.nan == "negative_zero" else sign
    least = layout.least_exponent - layout.precision + 1
    return sign | (((exponent - least) << (layout.precision - 1)) + significand)


@cache
def _greatest(layout: FloatLayout) -> tuple[int, int]:
    top = (1 << layout.precision) - (2 if layout.nan == "all_ones" else 1)
    return top, layout.greatest_exponent - layout.precision + 1


def _beyond(element_type: ElementType, sign: int) -> int:
    """The bits of what lies beyond the greatest finite number, or the least one."""
    layout = layout_of(element_type)
    if layout.infinities:
        return sign | _infinity(element_type)
    return sign | ((1 << (element_type.bits - 1)) - 1) if layout.nan == "none" else _nan(element_type)


def _infinity(element_type: ElementType) -> int:
    layout = layout_of(element_type)
    return ((1 << layout.exponent_bits) - 1) << (layout.precision - 1)


def _nan(element_type: ElementType) -> int:
    layout = layout_of(element_type)
    if layout.nan == "negative_zero":
        return 1 << (element_type.bits - 1)
    if layout.nan == "all_ones":
        return (1 << (element_type.bits - 1)) - 1
    if layout.nan == "none":
        raise ValueError(f"{element_type} has no NaN")
    return _infinity(element_type) | (1 << (layout.precision - 2))


def encode(element_type: ElementType, values: Iterable[Number | int]) -> NDArray[Any]:
    """Numbers, each correctly rounded (see `encode_bits`), as a flat array in the type's storage.

    NaN is the quiet one; an infinity is what lies beyond the greatest finite number. Raises ValueError for
    NaN in a layout that has none.
    """
    return storage_of(element_type, np.array([_bits(element_type, each) for each in values], dtype=np.uint64))


def _bits(element_type: ElementType, value: Number | int) -> int:
    if holds_powers_alone(element_type):
        return encode_power(value)
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return _nan(element_type)
        return _beyond(element_type, 1 << (element_type.bits - 1) if value < 0 else 0)
    bits = encode_bits(element_type, *value.as_integer_ratio())
    minus_zero = isinstance(value, float) and value == 0 and math.copysign(1, value) < 0
    if minus_zero and layout_of(element_type).nan != "negative_zero":
        bits |= 1 << (element_type.bits - 1)
    return bits


def is_representable(layout: FloatLayout, numerator: int, denominator: int) -> bool:
    """Whether a ratio is a finite number of a layout."""
    if numerator == 0:
        return True
    lowest = denominator & -denominator
    odd = denominator // lowest
    if odd != 1:
        numerator, rest = divmod(numerator, odd)
        if rest:
            return False
    size, low = abs(numerator), numerator & -numerator
    power = low.bit_length() - lowest.bit_length()
    exponent = size.bit_length() - lowest.bit_length()
    return (
        size >> layout.precision < low
        and power >= layout.least_exponent - layout.precision + 1
        and (exponent < layout.greatest_exponent or Fraction(size, lowest) <= largest(layout))
    )
