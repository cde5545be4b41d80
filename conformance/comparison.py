"""One output against what it must be: bit patterns where exactness is asked, the allowed error elsewhere.

No comparison here rounds in a way that could change its result. A distance is computed in float64 (for
64-bit integers in uint64); rounding is monotonic, so a rounded distance below or above the allowed one proves
the same of the exact distance, and the few elements that are equal to it after rounding are decided with
rational numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.cases import Alternative, ExpectedOutput
from conformance.values import JsonNumber, decode_floats, element_to_json
from opcert.element_types import ElementType
from opcert.tensors import Tensor

Difference = Literal["type", "shape", "value"]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Worst:
    """The element that is farthest off: `ratio` is distance / allowed, None where equality was asked."""

    output: int
    index: tuple[int, ...]
    got: JsonNumber | list[JsonNumber]
    expected: JsonNumber | list[JsonNumber]
    allowed: float | None
    ratio: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out of comparing one output. `difference` is None where it is as it must be.

    `same_bits` says whether it is bit for bit the expectation; `wrong` is the mask of wrong elements where
    the difference is in values; `worst` is also given for a right output that used some of its allowance.
    """

    difference: Difference | None
    same_bits: bool = False
    elements: int = 0
    wrong: Mask | None = None
    worst: Worst | None = None

    @property
    def wrong_elements(self) -> int:
        return 0 if self.wrong is None else int(np.count_nonzero(self.wrong))


def compare_output(expected: ExpectedOutput, got: Tensor, position: int = 0) -> Comparison:
    """Compare one output, the `position`th, with its expectation."""
    wanted = expected.expected
    if got.element_type is not wanted.element_type:
        return Comparison("type")
    if got.shape != wanted.shape:
        return Comparison("shape")
    elements = int(wanted.array.size)
    if _raw(got) == _raw(wanted):
        return Comparison(None, same_bits=True, elements=elements)
    # One axis from here on: what numpy does with arrays of rank 0 differs from what it does with others.
    element_type, left, right_values = wanted.element_type, got.array.reshape(-1), wanted.array.reshape(-1)
    right = same_elements(element_type, left, right_values)
    if expected.allowed is not None:
        allowed = expected.allowed.reshape(-1)
        if element_type.kind in ("string", "bool"):
            right = right | np.isinf(allowed)
        else:
            right = right | _within(element_type, left, right_values, allowed)
    wrong = ~_accept_alternatives(element_type, expected.alternatives, left, right)
    if wrong.any():
        worst = _find_worst(expected, got, wrong, position, failing=True)
        return Comparison("value", False, elements, wrong.reshape(wanted.shape), worst)
    used = None if expected.allowed is None else _find_worst(expected, got, right, position, failing=False)
    return Comparison(None, False, elements, None, used)


def _raw(tensor: Tensor) -> bytes | list[bytes]:
    if tensor.element_type.kind == "string":
        strings: list[bytes] = tensor.array.reshape(-1).tolist()
        return strings
    return tensor.array.tobytes()


def same_elements(element_type: ElementType, first: NDArray[Any], second: NDArray[Any]) -> Mask:
    """Where two arrays in storage, of the same shape, hold the same bits.

    Any two NaN are the same; the two zeros are not.
    """
    if element_type.kind == "string":
        return np.asarray(first == second, dtype=np.bool_).reshape(first.shape)
    if element_type.kind == "complex":
        component = element_type.component
        real = same_elements(component, np.ascontiguousarray(first.real), np.ascontiguousarray(second.real))
        imaginary = same_elements(
            component, np.ascontiguousarray(first.imag), np.ascontiguousarray(second.imag)
        )
        return real & imaginary
    unsigned = np.dtype(f"u{first.dtype.itemsize}")
    same: Mask = first.view(unsigned) == second.view(unsigned)
    if element_type.is_float:
        same = same | (_is_nan(element_type, first) & _is_nan(element_type, second))
    return same


def _is_nan(element_type: ElementType, storage: NDArray[Any]) -> Mask:
    nan: Mask = np.isnan(decode_floats(element_type, storage))
    return nan


def distances(element_type: ElementType, got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """How far apart elements are, rounded to float64; NaN against anything and unequal infinities: infinity.

    For complex types the greater of the two components' distances.
    """
    if element_type.kind == "complex":
        component = element_type.component
        return np.maximum(
            distances(component, got.real, expected.real), distances(component, got.imag, expected.imag)
        )
    if element_type.is_integer:
        return _integer_distances(got, expected).astype(np.float64)
    left, right = decode_floats(element_type, got), decode_floats(element_type, expected)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(left - right)
    apart = np.where((left == right) | (np.isnan(left) & np.isnan(right)), 0.0, apart)
    return np.where(np.isnan(apart), np.inf, apart)


def _integer_distances(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.uint64]:
    # Unsigned subtraction wraps to the exact distance, which always fits in 64 bits.
    with np.errstate(over="ignore"):
        left, right = got.astype(np.uint64), expected.astype(np.uint64)
        return np.where(got > expected, left - right, right - left)


def _within(
    element_type: ElementType, got: NDArray[Any], expected: NDArray[Any], allowed: NDArray[np.float64]
) -> Mask:
    apart = distances(element_type, got, expected)
    near: Mask = (apart < allowed) | np.isinf(allowed)
    undecided = (apart == allowed) & ~np.isinf(allowed)
    for index in np.flatnonzero(undecided):
        exact = _exact_distance(element_type, got[index], expected[index])
        near[index] = exact <= Fraction(float(allowed[index]))
    return near


def _exact_distance(element_type: ElementType, got: Any, expected: Any) -> Fraction:
    if element_type.kind == "complex":
        component = element_type.component
        return max(
            _exact_distance(component, got.real, expected.real),
            _exact_distance(component, got.imag, expected.imag),
        )
    if element_type.is_integer:
        return Fraction(abs(int(got) - int(expected)))
    left, right = (
        float(decode_floats(element_type, np.asarray(each).reshape(1))[0]) for each in (got, expected)
    )
    # Both finite, or the distance would not equal a finite allowance.
    return abs(Fraction(left) - Fraction(right)) if left != right and left == left else Fraction(0)


def _accept_alternatives(
    element_type: ElementType, alternatives: Sequence[Alternative], got: NDArray[Any], right: Mask
) -> Mask:
    right = right.copy()
    for each in alternatives:
        if right[each.index]:
            continue
        candidates = np.empty(len(each.values), dtype=element_type.storage)
        candidates[:] = each.values
        repeated = np.empty_like(candidates)
        repeated[:] = [got[each.index]] * len(each.values)
        right[each.index] = bool(same_elements(element_type, repeated, candidates).any())
    return right


def _find_worst(
    expected: ExpectedOutput, got: Tensor, considered: Mask, position: int, *, failing: bool
) -> Worst | None:
    """The farthest of the elements that are considered; None where none of them is off at all."""
    element_type, wanted = expected.expected.element_type, expected.expected.array.reshape(-1)
    if not considered.any():
        return None
    found = got.array.reshape(-1)
    if element_type.kind in ("string", "bool"):
        apart = np.ones(wanted.shape)
    else:
        apart = distances(element_type, found, wanted)
    allowed = np.zeros(wanted.shape) if expected.allowed is None else expected.allowed.reshape(-1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(apart == 0, 0.0, np.where(np.isinf(allowed), 0.0, apart / allowed))
    rank = np.where(considered, ratio, -1.0)
    # Where several are infinitely far beyond what is allowed, the greatest distance is the worst.
    ties = np.flatnonzero(rank == rank.max())
    flat = int(ties[np.argmax(apart[ties])])
    index = tuple(int(each) for each in np.unravel_index(flat, got.shape))
    limit = float(allowed[flat])
    worst_ratio = float(rank[flat])
    if not failing and worst_ratio == 0:
        return None
    measured = expected.allowed is not None and limit > 0 and np.isfinite(worst_ratio)
    return Worst(
        output=position,
        index=index,
        got=element_to_json(element_type, found[flat]),
        expected=element_to_json(element_type, wanted[flat]),
        allowed=limit if expected.allowed is not None else None,
        ratio=worst_ratio if measured else None,
    )
