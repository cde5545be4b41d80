"""Whether two values of the reference are so much alike that one may stand in the other's place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpz
from numpy.typing import NDArray

from reference.rationals import Rationals

_PLAIN = (bool, int, str, bytes, NoneType, Fraction, range, slice, np.dtype, fmpz, fmpq)
"""Types whose equality tells all there is of a value."""


def alike(left: Any, right: Any) -> bool:
    """Whether two values have the same type and bits all through; False where that cannot be said."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    compare = _COMPARED.get(type(left))
    if compare is not None:
        return compare(left, right)
    if isinstance(left, np.generic):
        return left.tobytes() == right.tobytes() if left.dtype != object else False
    if isinstance(left, tuple):
        return _alike_in_order(left, right)
    if is_dataclass(left):
        return all(_same_parts(getattr(left, each.name), getattr(right, each.name)) for each in fields(left))
    return False


def _same_parts(left: Any, right: Any) -> bool:
    """Fields of values that nothing is written into: whether an array is seen through another is all one."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return _same_elements(left, right)
    return alike(left, right)


def _same_floats(left: float, right: float) -> bool:
    return left.hex() == right.hex()


def _same_complex(left: complex, right: complex) -> bool:
    return _same_floats(left.real, right.real) and _same_floats(left.imag, right.imag)


def _same_arrays(left: NDArray[Any], right: NDArray[Any]) -> bool:
    # What may be written to, and what is seen through another array, behaves otherwise later.
    if left.flags.writeable != right.flags.writeable or (left.base is None) != (right.base is None):
        return False
    return _same_elements(left, right)


def _same_elements(left: NDArray[Any], right: NDArray[Any]) -> bool:
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.hasobject:
        return all(map(alike, left.reshape(-1).tolist(), right.reshape(-1).tolist()))
    return left.tobytes() == right.tobytes()


def _same_rationals(left: Rationals, right: Rationals) -> bool:
    """Whatever denominators the same numbers are held with."""
    if left.shape != right.shape or not all(np.all(each.denominator > 0) for each in (left, right)):
        return False
    return bool(np.all(left.numerator * right.denominator == right.numerator * left.denominator))


def _same_balls(left: arb, right: arb) -> bool:
    return bool(left.mid() == right.mid() and left.rad() == right.rad()) and left.is_finite()


def _alike_in_order(left: Any, right: Any) -> bool:
    return len(left) == len(right) and all(map(alike, left, right))


def _alike_by_key(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    return list(left) == list(right) and all(map(alike, left.values(), right.values()))


_COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    **{each: lambda left, right: bool(left == right) for each in _PLAIN},
    float: _same_floats,
    complex: _same_complex,
    np.ndarray: _same_arrays,
    arb: _same_balls,
    Rationals: _same_rationals,
    list: _alike_in_order,
    tuple: _alike_in_order,
    dict: _alike_by_key,
}
