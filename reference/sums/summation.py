"""Sums of Numbers, and sums of products: in any order, blocked, pairwise, or with fused operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BINARY64, FloatLayout
from reference.numbers.accumulations import RUNNING, WHOLE, RunningAxis
from reference.numbers.exact_sums import GREATEST_POWER, quanta
from reference.numbers.noted_functions import note_steps
from reference.numbers.number_arrays import Numbers, beside_open, infinities_met, settled
from reference.numbers.numbers import largest, smallest_subnormal
from reference.numbers.rationals import Rationals
from reference.numbers.working import MARGIN, Floats, Mask, Working, rounded_up, unit_roundoff

_BITS = 62
"""Sums of integers with no more bits than this are of 64 bits on the way, too."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of sums along a last axis, and the sums of their exact values.

    `sizes` are absolute values, rounded to float64, `given` says which are not zero, `quanta` of which power
    of two each is a multiple (`reference/numbers/exact_sums.py`). `numbers` are the terms themselves where
    they are no products.
    """

    working: Working
    summed: Rationals
    sizes: Floats
    given: Mask
    quanta: Floats
    error: Floats
    sign: Floats
    lost: Mask
    numbers: Rationals | None = None

    def held_by(self, layout: FloatLayout) -> Mask:
        """Which of the terms a floating-point layout holds; of products none is known."""
        if self.numbers is None:
            return np.zeros(self.sizes.shape, dtype=np.bool_)
        return self.numbers.representable(layout)

    def beside(self, others: Terms) -> Terms:
        """These and behind them the others, in one sum each."""
        return Terms(
            self.working,
            self.summed + others.summed,
            np.concatenate([self.sizes, others.sizes], axis=-1),
            np.concatenate([self.given, others.given], axis=-1),
            np.concatenate([self.quanta, others.quanta], axis=-1),
            np.concatenate([self.error, others.error], axis=-1),
            np.concatenate([self.sign, others.sign], axis=-1),
            np.concatenate([self.lost, others.lost], axis=-1),
        )


def terms_of_numbers(numbers: Numbers, along: RunningAxis) -> Terms:
    """The numbers of a last axis as terms."""
    note_steps(numbers.error.size)
    value = numbers.value.spread(numbers.shape)
    return Terms(
        numbers.working,
        along.exact(value),
        np.abs(value.floats()),
        value.signs() != 0,
        quanta(value),
        numbers.error,
        numbers.sign,
        numbers.lost,
        value,
    )


def terms_of_products(left: Numbers, right: Numbers, shape: tuple[int, ...]) -> Terms:
    """The products of elements, broadcast against each other, as terms of whole sums, in a shape."""
    whole = np.broadcast_shapes(left.shape, right.shape)
    note_steps(prod(whole))
    left.working.note_chain(left.beyond_type() | right.beyond_type())
    ours, theirs = left.value.spread(left.shape), right.value.spread(right.shape)
    if not (_are_known(ours) and _are_known(theirs)):
        first, second = (each.broadcast(whole).reshape(shape) for each in (left, right))
        value = first.value * second.value
        sizes, steps, given = np.abs(value.floats()), quanta(value), value.signs() != 0
        summed = WHOLE.exact(value.spread(shape))
    else:
        # The sizes are rounded once, as the products themselves would be; powers of two are not rounded.
        with np.errstate(over="ignore"):
            sizes = (np.abs(ours.floats()) * np.abs(theirs.floats())).reshape(shape)
            steps = np.minimum(quanta(ours) * quanta(theirs), GREATEST_POWER)
        given = ((ours.signs() != 0) & (theirs.signs() != 0)).reshape(shape)
        steps = np.where(given, steps.reshape(shape), np.inf)
        summed = _sums(ours, theirs, whole, shape)
    with np.errstate(invalid="ignore"):
        sign = (left.sign * right.sign).reshape(shape)
    lost = (left.lost | right.lost).reshape(shape)
    error = _errors(left, right, whole).reshape(shape)
    if left.error.any() or right.error.any():
        anything = np.asarray(np.broadcast_to(left.open | right.open, whole)).reshape(shape)
        sign, error, lost = beside_open(anything, sign, error, lost)
        perhaps, either = (
            np.broadcast_to(each, whole).reshape(shape) for each in infinities_met(left, right)
        )
        sign, error, lost = beside_open(either, sign, error, lost | perhaps)
    return Terms(left.working, summed, sizes, given, steps, error, sign, lost)


def _are_known(value: Rationals) -> bool:
    """Whether float64 holds the numbers, and they have one power of two for a denominator."""
    return value.power is not None and value.are_doubles()


def _errors(left: Numbers, right: Numbers, whole: tuple[int, ...]) -> Floats:
    if not (left.error.any() or right.error.any()):
        return np.zeros(whole)
    ours, theirs = np.abs(left.value.floats()), np.abs(right.value.floats())
    with np.errstate(over="ignore", invalid="ignore"):
        error = ours * right.error + theirs * left.error + left.error * right.error
    return np.where((left.error == 0) & (right.error == 0), 0.0, rounded_up(error))


def _sums(left: Rationals, right: Rationals, whole: tuple[int, ...], shape: tuple[int, ...]) -> Rationals:
    """The sums of products of numbers over powers of two, along the last axis of a shape."""
    denominator = np.asarray(left.denominator * right.denominator, dtype=object)
    if left.small is not None and right.small is not None:
        bits = _bits_of(left.small) + _bits_of(right.small) + shape[-1].bit_length()
        if bits <= _BITS:
            products = (left.small * right.small).reshape(shape)
            added = products.sum(axis=-1, keepdims=True)  # exact: integers
            return Rationals(np.asarray(added.astype(object)), denominator)
    numerators = np.broadcast_to(left.numerator * right.numerator, whole).reshape(shape)
    added = numerators.sum(axis=-1, keepdims=True)  # exact: Python's integers
    return Rationals(np.asarray(added, dtype=object), denominator)


def _bits_of(integers: NDArray[np.int64]) -> int:
    return int(np.abs(integers).max(initial=0)).bit_length()


_LEAST = float(smallest_subnormal(BINARY64))


def total(numbers: Numbers, axes: int | Sequence[int], *, keepdims: bool = False) -> Numbers:
    """The sum along axes: one rounding less than there are terms; that of no numbers is zero."""
    flat, shape = last_axis(numbers, axes, keepdims=keepdims)
    return _added_up(terms_of_numbers(flat, WHOLE), WHOLE, operations=-1).reshape(shape)


def running_totals(numbers: Numbers) -> Numbers:
    """The sums of the first elements of the last axis, of none of them first: one more than there are."""
    return _added_up(terms_of_numbers(numbers, RUNNING), RUNNING, operations=-1)


def total_of_products(
    left: Numbers, right: Numbers, axes: int | Sequence[int], *, keepdims: bool = False
) -> Numbers:
    """The sum of the products of elements of two of one shape, along axes."""
    (first, shape), (second, _) = (last_axis(each, axes, keepdims=keepdims) for each in (left, right))
    return sum_of_products(first, second).reshape(shape)


def mean_of(summed: Numbers, count: int | NDArray[np.intp]) -> Numbers:
    """Sums divided by how many numbers they are of, or multiplied by the reciprocals of their counts."""
    if isinstance(count, np.ndarray) and count.size and (count == count.flat[0]).all():
        count = int(count.flat[0])
    counts = Rationals.of(np.asarray(count).astype(object))
    return summed / Numbers.exact(counts, summed.working).rounded(1, exact=True)


def last_axis(
    numbers: Numbers, axes: int | Sequence[int], *, keepdims: bool
) -> tuple[Numbers, tuple[int, ...]]:
    """The elements along axes on one last axis, and the shape of what each of its rows comes to."""
    chosen = sorted({each % numbers.ndim for each in ((axes,) if isinstance(axes, int) else axes)})
    rest = [each for each in range(numbers.ndim) if each not in chosen]
    lengths = [numbers.shape[each] for each in rest]
    flat = numbers.transposed((*rest, *chosen)).reshape(
        (*lengths, prod(numbers.shape[each] for each in chosen))
    )
    kept = [1 if each in chosen else extent for each, extent in enumerate(numbers.shape)]
    return flat, tuple(kept if keepdims else lengths)


def sum_of_products(left: Numbers, right: Numbers, axes: int = 1, plus: Numbers | None = None) -> Numbers:
    """The products of elements, broadcast against each other, summed over the last axes, which go away.

    `plus` is one more term of each sum, of any place among them.
    """
    shape = np.broadcast_shapes(left.shape, right.shape)
    kept = shape[: len(shape) - axes]
    terms = terms_of_products(left, right, (*kept, prod(shape[len(kept) :])))
    if plus is None:
        return _added_up(terms, WHOLE, operations=0).reshape(kept)
    more = plus.broadcast(kept).reshape((*kept, 1))
    found = _added_up(terms.beside(terms_of_numbers(more, WHOLE)), WHOLE, operations=0).reshape(kept)
    if left.working.sums == left.working.layout:
        return found
    # The sum of the products may be rounded to the format before that term is added.
    apart = _added_up(terms, WHOLE, operations=0).reshape(kept) + plus
    return replace(found, error=np.maximum(found.error, apart.error), lost=found.lost | apart.lost)


def _added_up(terms: Terms, along: RunningAxis, *, operations: int) -> Numbers:
    """Terms summed along their last axis.

    `operations` is 0 where each term is a product, which rounds and underflows, and -1 where it is a number.
    """
    working, error, sign = terms.working, terms.error, terms.sign
    summed, special = terms.summed, along.special(sign)
    zero = np.where(along.all(np.signbit(sign)) & along.any(np.ones(sign.shape, np.bool_)), -0.0, 0.0)
    gone = along.any(terms.lost)
    if not working.is_float:
        return settled(working, summed, np.zeros(special.shape), special, zero, gone)
    if operations == 0 and working.sums != working.layout:
        error, gone = _rounded_products(terms, along, gone)
    sizes = np.where(np.isfinite(sign), rounded_up(terms.sizes + error), 0.0)
    # A product may be too small for float64, and is a term all the same.
    sizes = np.maximum(sizes, np.where(terms.given, _LEAST, 0.0))
    most, carried = rounded_up(along.floats(sizes)), rounded_up(along.floats(error))
    count = along.count(sizes > 0)
    roundings = np.maximum(count + operations, 0)
    quantum = along.least(terms.quanta)
    exact = along.all(error == 0) & _adds_exactly(quantum, most, working.sums)
    if working.is_narrow:
        several = count > 1
        pairs = several & (count + operations < 2)
        if pairs.any():
            # Two numbers of the type are rounded once, in either precision to the same sum.
            several = several & ~(pairs & along.all(terms.held_by(working.own_layout)))
        working.note_chain(several & ~_adds_exactly(quantum, most, working.own_layout))
    unit, least = unit_roundoff(working.sums), float(smallest_subnormal(working.sums))
    greatest = float(largest(working.sums))
    with np.errstate(over="ignore", invalid="ignore"):
        charge = roundings * (unit * (1 + 2 * unit * roundings) * most + least)
        gone = gone | ((count + operations > 0) & (most * (1 + MARGIN) >= greatest))
    bound = np.where(exact | (roundings == 0), carried, rounded_up(carried + charge))
    if error.any():
        anything = along.any(np.isfinite(sign) & np.isinf(error))
        special, bound, gone = beside_open(anything, special, bound, gone)
    if working.arithmetic is not None and gone.any():
        special, bound, gone = beside_open(gone, special, bound, gone)
    tiny = along.any((sizes > 0) & (sizes < working.least_normal))
    if working.flushes(tiny | working.may_flush(np.abs(summed.floats()), bound)):
        bound = rounded_up(bound + (count + 1) * working.least_normal)
    found = settled(working, summed, bound, special, zero, gone)
    return found if working.sums == working.layout else _held_in_format(found, count, operations)


def _rounded_products(terms: Terms, along: RunningAxis, gone: Mask) -> tuple[Floats, Mask]:
    """The errors of products that are rounded to a narrower format than their sums, and what is lost then."""
    working = terms.working
    kept = (terms.error == 0) & _adds_exactly(terms.quanta, terms.sizes, working.layout)
    sizes = terms.sizes + terms.error
    with np.errstate(over="ignore", invalid="ignore"):
        charge = np.where(kept | ~terms.given, 0.0, working.unit * sizes + working.least)
        beyond = terms.given & np.isfinite(terms.sign) & (sizes >= working.greatest * (1 - MARGIN))
    return np.where(charge > 0, rounded_up(terms.error + charge), terms.error), gone | along.any(beyond)


def _held_in_format(found: Numbers, count: Floats, operations: int) -> Numbers:
    """Sums that were added up in float32, rounded to the format; one number is what it was."""
    alone = np.broadcast_to((count <= 1) & (operations < 0), found.shape)
    return found.rounded(1, exact=found.error == 0, free=alone)


def _adds_exactly(quantum: Floats, most: Floats, layout: FloatLayout) -> Mask:
    """Where every partial sum of multiples of a quantum, in any order, is a number of a precision."""
    with np.errstate(over="ignore"):
        fits = most <= np.minimum(np.ldexp(quantum, layout.precision), float(largest(layout)))
    return np.asarray(fits & (quantum >= float(smallest_subnormal(layout))))
