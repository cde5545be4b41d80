"""Products of Numbers along axes, multiplied in any order, and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.accumulations import RUNNING, WHOLE, RunningAxis
from reference.numbers.number_arrays import Numbers, beside_open, settled
from reference.numbers.numbers import largest, smallest_normal
from reference.numbers.rationals import Integers, Rationals
from reference.numbers.working import MARGIN, SLACK, Floats, Mask, rounded_up
from reference.sums.summation import last_axis, sum_of_products


def product_of_matrices(A: Numbers, B: Numbers) -> Numbers:
    """The sums of A[..., m, k] B[..., k, n] over k; a vector is a row on the left, a column on the right."""
    rows = A.reshape((1, *A.shape)) if A.ndim == 1 else A
    columns = B.reshape((*B.shape, 1)) if B.ndim == 1 else B
    order = (*range(columns.ndim - 2), columns.ndim - 1, columns.ndim - 2)
    turned = columns.transposed(order)
    found = sum_of_products(
        rows.reshape((*rows.shape[:-1], 1, rows.shape[-1])),
        turned.reshape((*turned.shape[:-2], 1, *turned.shape[-2:])),
    )
    lead = found.shape[:-2]
    return found.reshape((*lead, *found.shape[-2:][A.ndim == 1 : 2 - (B.ndim == 1)]))


def product(numbers: Numbers, axes: int | Sequence[int], *, keepdims: bool = False) -> Numbers:
    """The product along axes: one rounding less than there are factors; that of no numbers is one.

    Any factors may be multiplied with each other first: what is below the smallest or beyond the greatest
    number in some order counts.
    """
    flat, shape = last_axis(numbers, axes, keepdims=keepdims)
    return _multiplied(flat, WHOLE).reshape(shape)


def running_products(numbers: Numbers) -> Numbers:
    """The products of the first elements of the last axis, of none of them first: one more than there are."""
    return _multiplied(numbers, RUNNING)


def _multiplied(factors: Numbers, along: RunningAxis) -> Numbers:
    """Factors multiplied along their last axis."""
    working = factors.working
    value = along.products(factors.value.spread(factors.shape))
    sign, lost = along.float_products(factors.sign), along.any(factors.lost)
    if not working.is_float:
        return settled(working, value, np.zeros(sign.shape), sign, sign, lost)
    error, gone, vanishes = _errors(factors, value, along)
    error = np.where(along.any((factors.sign == 0) & (factors.error == 0)), 0.0, error)
    # What underflowed to zero makes NaN of an infinity, as what may be anything does.
    anything = vanishes | along.any(factors.open)
    sign, error, lost = beside_open(anything, sign, error, lost | gone)
    return settled(working, value, error, sign, sign, lost)


def _errors(factors: Numbers, value: Rationals, along: RunningAxis) -> tuple[Floats, Mask, Mask]:
    """The error of each product, whether it may overflow on the way, and whether a part may become zero."""
    working = factors.working
    sizes = np.where(factors.finite, np.abs(factors.value.floats()), 1.0)
    held = np.where(factors.finite, factors.magnitude, 1.0)
    known = along.all(factors.error == 0)
    roundings = np.maximum(along.count((sizes != 1) | (factors.error > 0)) - 1, 0)
    whole = along.float_products(held)
    most = along.float_products(np.maximum(held, 1.0))
    least = along.float_products(np.where(held > 0, np.minimum(held, 1.0), 1.0))
    with np.errstate(over="ignore", invalid="ignore"):
        carried = whole - along.float_products(sizes) + SLACK * whole
        carried = np.where(known, 0.0, rounded_up(carried))
        charge = roundings * working.unit * (1 + 2 * working.unit * roundings)
        charge = charge * (np.abs(value.floats()) + carried)
    below = (least < 2 * working.least_normal) & (roundings > 0)
    smallest = working.least_normal if working.flushes(below) else working.least
    digits = along.products(_odd_parts(factors.value.spread(factors.shape))).numerator
    exact = known & ~below & _fits(digits, working.layout)
    if working.is_narrow:
        own = working.own_layout
        held_in = (most <= float(largest(own))) & (least >= float(smallest_normal(own)))
        working.note_chain((roundings > 1) & ~(known & held_in & _fits(digits, own)))
    with np.errstate(over="ignore", invalid="ignore"):
        charge = charge + np.where(below, roundings * smallest * most, 0.0)
        gone = (along.count(held > 1) > 1) & (most * (1 + MARGIN) >= working.greatest)
    error = np.where(exact | (roundings == 0), carried, rounded_up(carried + charge))
    return error, gone, below & (least < 4 * smallest)


def _fits(digits: Integers, layout: FloatLayout) -> Mask:
    """Where a significand holds a product of numbers without their powers of two."""
    return np.asarray(digits < 1 << layout.precision, dtype=np.bool_)


def _odd_parts(value: Rationals) -> Rationals:
    """The numerators of dyadic numbers without their factors of two."""
    return Rationals(value.each(_odd_part, object), np.array(1, dtype=object))


def _odd_part(numerator: int, denominator: int) -> int:
    """The numerator of a dyadic number without its factors of two; more than any holds of another."""
    if denominator & (denominator - 1):
        return 1 << 200
    return abs(numerator) // (numerator & -numerator) if numerator else 1
