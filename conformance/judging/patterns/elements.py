"""Elements held against elements: the same bits, how far apart, near enough, for every element type.

Nothing here rounds in a way that could change an answer. Distances are computed in float64 (of 64-bit
integers in uint64). Rounding is monotonic, so a rounded distance below or above a limit proves the same of
the exact one; where it equals the limit, the rounding error of the subtraction, itself a float64, decides.
Infinities and signalling NaN are ordinary here, so callers put numpy's warnings off (`np.errstate`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_loudly
from opcert.vocabulary.element_types import ElementType

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
_BEYOND_UINT64 = float(1 << 64)


def same_bits(first: NDArray[Any], second: NDArray[Any]) -> Mask:
    """Where two arrays of one storage type and shape hold the same bits; every NaN has its own payload."""
    kind = first.dtype.kind
    if kind in "ui":
        return np.asarray(first == second)
    if kind == "O":
        return np.asarray(first == second, dtype=np.bool_).reshape(first.shape)
    if kind == "c":
        return same_bits(first.real, second.real) & same_bits(first.imag, second.imag)
    unsigned = f"u{first.dtype.itemsize}"
    return np.asarray(first.view(unsigned) == second.view(unsigned))


def same_elements(element_type: ElementType, first: NDArray[Any], second: NDArray[Any]) -> Mask:
    """Where two arrays in storage, of the same shape, hold the same element.

    Any two NaN are the same; the two zeros are not.
    """
    same = same_bits(first, second)
    if element_type.is_float or element_type.kind == "complex":
        other = ~same
        if other.any():
            same[other] = _same_nan(element_type, first[other], second[other])
    return same


def _same_nan(element_type: ElementType, first: NDArray[Any], second: NDArray[Any]) -> Mask:
    if element_type.kind == "complex":
        component = element_type.component
        real = same_elements(component, first.real, second.real)
        return real & same_elements(component, first.imag, second.imag)
    nan: Mask = np.isnan(decode_loudly(element_type, first)) & np.isnan(decode_loudly(element_type, second))
    return nan


def measure(
    element_type: ElementType, got: NDArray[Any], expected: NDArray[Any], allowed: Floats | None
) -> tuple[Floats, Mask]:
    """How far apart elements are, rounded to float64, and which of them are within the allowed distance.

    Without `allowed` only distance 0 is near. Two NaN are 0 apart; a NaN and a number, unequal infinities,
    and strings and booleans that differ are infinitely far apart. An infinite allowance takes everything. Of
    complex elements the worse component counts.
    """
    if element_type.kind == "complex":
        component = element_type.component
        real, near_real = measure(component, got.real, expected.real, allowed)
        imaginary, near_imaginary = measure(component, got.imag, expected.imag, allowed)
        return np.maximum(real, imaginary), near_real & near_imaginary
    if element_type.is_float:
        return _measure_floats(
            decode_loudly(element_type, got), decode_loudly(element_type, expected), allowed
        )
    if element_type.bits == 64:
        return _measure_wide_integers(got, expected, allowed)
    if element_type.is_integer:
        apart = np.abs(got.astype(np.float64) - expected)
        return apart, apart <= (0.0 if allowed is None else allowed)
    apart = np.where(same_bits(got, expected), 0.0, np.inf)
    return apart, apart <= (0.0 if allowed is None else allowed)


def _measure_floats(left: Floats, right: Floats, allowed: Floats | None) -> tuple[Floats, Mask]:
    difference = left - right
    apart = np.abs(difference)
    unknown = np.isnan(apart)
    if unknown.any():  # infinity less infinity, or a NaN
        first, second = left[unknown], right[unknown]
        alike = (first == second) | (np.isnan(first) & np.isnan(second))
        apart[unknown] = np.where(alike, 0.0, np.inf)
    if allowed is None:
        return apart, apart == 0
    near = np.asarray(apart <= allowed)
    ties = apart == allowed
    if ties.any():
        ties &= (apart > 0) & (apart < np.inf)
        near[ties] = ~_is_more(difference[ties], left[ties], right[ties])
    return apart, near


def _is_more(difference: Floats, left: Floats, right: Floats) -> Mask:
    """Where the exact difference is greater in magnitude than the rounded one.

    The error of a float64 addition is a float64, and these six operations give it (Knuth's two-sum).
    """
    taken = difference - left
    error = (left - (difference - taken)) + (-right - taken)
    return np.asarray((error != 0) & ((error > 0) == (difference > 0)))


def _measure_wide_integers(
    got: NDArray[Any], expected: NDArray[Any], allowed: Floats | None
) -> tuple[Floats, Mask]:
    # Unsigned subtraction wraps to the exact distance, which always fits in 64 bits.
    left, right = got.astype(np.uint64), expected.astype(np.uint64)
    exact = np.where(got > expected, left - right, right - left)
    apart = exact.astype(np.float64)
    if allowed is None:
        return apart, exact == 0
    everything = allowed >= _BEYOND_UINT64
    limit = np.where(everything, 0.0, np.floor(allowed)).astype(np.uint64)
    return apart, everything | (exact <= limit)


def ulp_distance(element_type: ElementType, got: Any, expected: Any) -> int | None:
    """How many steps from one floating-point number to the next lie between two elements.

    Both zeros are one number, and infinity follows the greatest finite one. None for NaN and for types that
    are not floating-point; of complex elements the greater of the components' distances.
    """
    arrays = (np.asarray(got).reshape(1), np.asarray(expected).reshape(1))
    found = ulp_distances(element_type, *arrays)
    return None if found is None or _is_nan(element_type, *arrays).any() else int(found[0])


def ulp_distances(
    element_type: ElementType, got: NDArray[Any], expected: NDArray[Any]
) -> NDArray[np.uint64] | None:
    """The same of every element, 0 where one is NaN; None for types that are not floating-point."""
    if element_type.kind == "complex":
        component = element_type.component
        real = ulp_distances(component, got.real, expected.real)
        imaginary = ulp_distances(component, got.imag, expected.imag)
        return None if real is None or imaginary is None else np.maximum(real, imaginary)
    if not element_type.is_float:
        return None
    first, second = (_ranks(element_type, array) for array in (got, expected))
    # Two ranks of different signs may be further apart than an integer of 64 bits with a sign holds.
    apart = np.where(first > second, first, second).view(np.uint64)
    apart = apart - np.where(first > second, second, first).view(np.uint64)
    return np.where(_is_nan(element_type, got, expected), np.uint64(0), apart)


def _ranks(element_type: ElementType, elements: NDArray[Any]) -> NDArray[np.int64]:
    """The rank of each number among those of its type, both zeros 0."""
    patterns = np.ascontiguousarray(elements)
    patterns = patterns.view(f"u{patterns.dtype.itemsize}").astype(np.int64)
    if element_type.layout is None:  # no sign
        return patterns
    magnitude = patterns & ((1 << (element_type.bits - 1)) - 1)
    return np.where((patterns >> (element_type.bits - 1)) & 1, -magnitude, magnitude)


def _is_nan(element_type: ElementType, *arrays: NDArray[Any]) -> Mask:
    if element_type.kind == "complex":
        return np.asarray(np.any([np.isnan(array) for array in arrays], axis=0))
    if not element_type.is_float:
        return np.zeros(arrays[0].shape, dtype=np.bool_)
    return np.asarray(np.any([np.isnan(decode_loudly(element_type, array)) for array in arrays], axis=0))
