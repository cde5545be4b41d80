"""Exact numbers rounded to a floating-point type, all at once, and how far each of them moved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BINARY64, ElementType, FloatLayout
from reference.numbers.numbers import encode_bits, largest, layout_of, numbers, storage_of
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask


@dataclass(frozen=True, eq=False)
class Nearest:
    """Flat arrays: bit patterns of the numbers nearest to exact ones, ties to even, and these as float64."""

    exact: Rationals
    bits: NDArray[np.uint64]
    results: Floats

    @cached_property
    def floats(self) -> Floats:
        """The exact numbers, rounded to float64 alone."""
        return self.exact.floats()

    def moved(self, chosen: Mask) -> Floats:
        """How far the chosen numbers were moved, rounded up; 0 for others. Their results are finite."""
        known = chosen & _are_floats(self.exact)
        with np.errstate(invalid="ignore"):
            # Exact: a number and the one next to it that is rounded to are near enough.
            apart = np.where(known, np.abs(self.floats - self.results), 0.0)
        left = np.flatnonzero(chosen & ~known).tolist()
        if left:
            numerators, denominators = _parts(self.exact)
            for index in left:
                top, bottom = float(self.results[index]).as_integer_ratio()
                numerator, denominator = numerators[index], denominators[index]
                apart[index] = ratio_up(abs(numerator * bottom - top * denominator), denominator * bottom)
        return apart


def ratio_up(numerator: int, denominator: int) -> float:
    """The least float64 that is not below a ratio of integers above zero; infinity beyond the greatest."""
    try:
        nearest = numerator / denominator
    except OverflowError:
        return math.inf
    top, bottom = nearest.as_integer_ratio()
    return nearest if top * denominator >= numerator * bottom else math.nextafter(nearest, math.inf)


def nearest_floats(element_type: ElementType, exact: Rationals) -> Nearest:
    """Each of a flat array of numbers rounded once, as `encode_bits` does one by one."""
    layout = layout_of(element_type)
    if layout.nan != "ieee":
        pairs = zip(*_parts(exact), strict=True)
        bits = np.array([encode_bits(element_type, *each) for each in pairs], dtype=np.uint64)
        found = [float(each) for each in numbers(element_type, storage_of(element_type, bits))]
        return Nearest(exact, bits, np.array(found, dtype=np.float64))
    if layout == BINARY64:
        return Nearest(exact, exact.floats().view(np.uint64), exact.floats())
    size = np.abs(exact.floats())
    finite = np.isfinite(size)
    size = np.where(finite, size, 0.0)
    least = layout.least_exponent - layout.precision + 1
    exponents = np.where(size > 0, np.maximum(np.frexp(size)[1] - layout.precision, least), least)
    scaled = np.ldexp(size, -exponents)
    significands = np.rint(scaled)
    # Rounded to float64 and then once more is rounded once, but where it lies between two by the first alone.
    ties = (scaled - np.floor(scaled) == 0.5) & ~_are_floats(exact)
    _settle(significands, scaled, np.flatnonzero(ties).tolist(), exact)
    return _joined(layout, exact, significands, exponents, finite)


def _settle(significands: Floats, scaled: Floats, ties: list[int], exact: Rationals) -> None:
    """Round those that seem to lie in the middle to the side on which they are."""
    numerators, denominators = _parts(exact) if ties else ([], [])
    for index in ties:
        top, bottom = abs(float(exact.floats()[index])).as_integer_ratio()
        over = abs(numerators[index]) * bottom - top * denominators[index]
        if over:
            significands[index] = math.floor(scaled[index]) + (over > 0)


def _joined(
    layout: FloatLayout, exact: Rationals, significands: Floats, exponents: NDArray[np.int64], finite: Mask
) -> Nearest:
    """Significands and exponents as bit patterns, with their signs; infinities beyond the greatest number."""
    least = layout.least_exponent - layout.precision + 1
    shift = layout.precision - 1
    with np.errstate(over="ignore"):
        sizes = np.ldexp(significands, exponents)
    beyond = ~finite | (sizes > float(largest(layout)))
    fields = ((exponents - least) << shift) + significands.astype(np.int64)
    infinity = ((1 << layout.exponent_bits) - 1) << shift
    negative = exact.signs() < 0
    sign = np.where(negative, 1 << (shift + layout.exponent_bits), 0)
    bits = (np.where(beyond, infinity, fields) | sign).astype(np.uint64)
    sizes = np.where(beyond, np.inf, sizes)
    return Nearest(exact, bits, np.where(negative, -sizes, sizes))


def _are_floats(exact: Rationals) -> Mask:
    """Which numbers float64 is known to hold: integers of few bits over a power of two."""
    if exact.small is None or exact.power is None or exact.power > -BINARY64.least_exponent:
        return np.zeros(exact.shape, dtype=np.bool_)
    return np.asarray(np.abs(exact.small) <= 1 << BINARY64.precision)


def _parts(exact: Rationals) -> tuple[list[int], list[int]]:
    """Numerators and denominators, one by one."""
    shape = exact.shape
    return (
        np.broadcast_to(exact.numerator, shape).tolist(),
        np.broadcast_to(exact.denominator, shape).tolist(),
    )
