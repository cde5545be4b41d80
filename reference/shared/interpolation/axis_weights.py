"""The weights of interpolation along one axis, as a matrix with its errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reference.answers import OutsideDomain
from reference.numbers.estimates import Estimate, rounded_up
from reference.numbers.exact_sums import quanta
from reference.numbers.rationals import Integers, Rationals
from reference.numbers.working import Mask
from reference.shared.interpolation.asked_axes import Method
from reference.shared.interpolation.coordinates import CoordinateAxis, coordinates
from reference.shared.interpolation.kernels import SUPPORT, cubic, linear
from reference.shared.interpolation.routes import Estimated
from reference.sums.weights import AxisWeights, Steps

FARTHEST = 64
"""Coordinates that are less certain than this many elements are no test of anything."""


@dataclass(frozen=True, eq=False)
class _Taps:
    """The taps of each position: their indices in the original axis, weights, and which a route may touch."""

    index: NDArray[np.int64]
    weight: Estimate
    touched: Mask


@lru_cache(maxsize=1024)
def axis_weights(axis: CoordinateAxis, method: Method) -> AxisWeights:
    """The weights of every input element (columns) for every position along an axis (rows).

    Taps outside the tensor take the nearest element's value, so their weights are added to it. Raises
    OutsideDomain where weights must be renormalised whose sum is 0.
    """
    taps = _find_taps(axis, method)
    weight, touched = taps.weight, taps.touched
    if method.exclude_outside:
        inside = (taps.index >= 0) & (taps.index < axis.length_original)
        nothing = Estimate.exact(np.zeros(taps.index.shape, dtype=object))
        # Their weight is set to 0: what is multiplied with it stays the element at the border.
        weight = weight.where(inside, nothing)
    if method.antialias or method.exclude_outside:
        total = weight.total(axis=1)
        if axis.mode == "tf_crop_and_resize":
            # Where no tap remains, the position is extrapolated and its weights mean nothing.
            where = coordinates(axis).estimate.value
            outside = ~(
                where.at_most(Rationals.of(axis.length_original - 1)) & (-where).at_most(Rationals.of(0))
            )
            empty = np.asarray(total.value.numerator == 0) & outside[:, None]
            total = Estimate.exact(np.array([[1]], dtype=object)).where(empty, total)
        if not np.all(total.value.numerator != 0):
            raise OutsideDomain(
                "the weights that remain inside the tensor sum to 0, and cannot be renormalised"
            )
        weight = weight / total
    return _lay_out(axis, taps.index, weight, touched, _steps(axis, method))


def _steps(axis: CoordinateAxis, method: Method) -> tuple[Steps, ...]:
    """The neighbours that `a + t (b - a)` may take at each position; none where that is no linear mean."""
    if method.mode != "linear" or (method.antialias and axis.exact_scale < 1):
        return ()
    where, last = coordinates(axis).estimate, axis.length_original - 1
    floors = where.value.floors()
    fraction = Rationals(where.value.numerator - floors * where.value.denominator, where.value.denominator)
    ahead, error = fraction.floats(), where.error
    farthest = math.ceil(float(error.max(initial=0.0)))
    found: list[Steps] = []
    for offset in range(-farthest, farthest + 1):
        # A computed coordinate may lie between the neighbours that are so many elements farther.
        taken = (ahead + error >= offset) & (ahead - error <= offset + 1) if offset else error >= 0
        low = np.where(taken, floors.astype(np.int64) + offset, floors.astype(np.int64))
        share = np.where(taken, np.clip(rounded_up(ahead + error) - offset, 0, 1), 0.0)
        found.append(Steps(np.clip(low, 0, last), np.clip(low + 1, 0, last), share))
    return tuple(found)


def _find_taps(axis: CoordinateAxis, method: Method) -> _Taps:
    where = coordinates(axis).estimate
    farthest = float(where.error.max(initial=0.0))
    if not farthest < FARTHEST:
        raise OutsideDomain("the coordinates are beyond the precision of float32")
    shrinking = method.antialias and axis.exact_scale < 1
    stretch = Estimate.exact(1) / Estimated().ratio(*axis.scale) if shrinking else Estimate.exact(1)
    support = SUPPORT[method.mode] * max(Fraction(1), stretch.value.fractions()[0])
    reach = math.ceil(support) + math.ceil(farthest) + 1
    offsets = np.arange(-reach, reach + 2)
    floors = where.value.floors().astype(np.int64)
    index = floors[:, None] + offsets[None, :]
    position = Estimate(
        Rationals(where.value.numerator[:, None], where.value.denominator),
        where.shared[:, None],
        where.fresh[:, None],
        where.layout,
    )
    # All taps of a position are weighed by one computed coordinate.
    distance = position.tied() - Estimate.exact(index.astype(object))
    stretched = distance / stretch if shrinking else distance
    weight = linear(stretched) if method.mode == "linear" else cubic(stretched, Fraction(method.a))
    # An antialiasing filter's window may be cut one element wider, with weight 0 there.
    widest = float(support) + (1 if method.antialias else 0)
    touched = np.abs(distance.value.floats()) <= widest + distance.error
    # A route may bring the coordinate inside first, and then take the weights 1 and 0 of two inner elements.
    inside = np.clip(where.value.floats(), 0, axis.length_original - 1)
    touched = touched | (np.abs(index - inside[:, None]) <= 1)
    return _Taps(index, weight, np.asarray(touched))


def _lay_out(
    axis: CoordinateAxis, index: NDArray[np.int64], weight: Estimate, touched: Mask, steps: tuple[Steps, ...]
) -> AxisWeights:
    shape = (axis.length_resized, axis.length_original)
    rows = np.arange(axis.length_resized)
    numerators = np.broadcast_to(weight.value.numerator, index.shape)
    floats = weight.value.floats()
    error = np.abs(weight.shared) + weight.fresh
    sure = np.where(np.abs(floats) > error, np.sign(floats), 0).astype(np.int8)
    dense: Integers = np.zeros(shape, dtype=object)
    size, shared, fresh = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    ups, downs, doubts = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool)
    reached = np.zeros(shape, bool)
    for tap in range(index.shape[1]):
        column = np.clip(index[:, tap], 0, axis.length_original - 1)
        dense[rows, column] += numerators[:, tap]
        size[rows, column] += np.abs(floats[:, tap])
        shared[rows, column] += weight.shared[:, tap]
        fresh[rows, column] += weight.fresh[:, tap]
        ups[rows, column] |= sure[:, tap] > 0
        downs[rows, column] |= sure[:, tap] < 0
        doubts[rows, column] |= touched[:, tap] & (sure[:, tap] == 0)
        reached[rows, column] |= touched[:, tap] | (sure[:, tap] != 0)
    for each in steps:
        # An infinity is taken from itself.
        doubts[rows, each.low] |= reached[rows, each.low]
    value = _reduce(Rationals(dense, np.broadcast_to(weight.value.denominator, (len(rows), 1))))
    merged = value.floats()
    sign = np.where((ups | downs) & (np.abs(merged) > np.abs(shared) + fresh), np.sign(merged), 0)
    terms = np.count_nonzero((floats != 0) | (error > 0), axis=1)
    exact = (error == 0).all(axis=1)
    quantum = np.where(exact, quanta(weight.value).min(axis=1, initial=1.0), 0.0)
    slack = np.ldexp(np.abs(shared), -40)
    return AxisWeights(
        value,
        rounded_up(size),
        shared,
        rounded_up(fresh + slack),
        terms.astype(np.int64),
        quantum,
        reached,
        sign.astype(np.int8),
        (ups & downs) | doubts,
        steps,
    )


def _reduce(value: Rationals) -> Rationals:
    """The same with each row in its lowest terms."""
    numerator, denominator = value.numerator.copy(), value.denominator.copy()
    for row in range(numerator.shape[0]):
        divisor = math.gcd(int(denominator[row, 0]), *(int(each) for each in numerator[row]))
        numerator[row] //= divisor
        denominator[row] //= divisor
    return Rationals(numerator, denominator)
