"""Sums of Numbers, and sums of products: in any order, blocked, pairwise, or with fused operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reference.additions import total as float_total
from reference.estimates import quanta
from reference.number_arrays import Numbers, settled
from reference.rationals import Rationals
from reference.working import MARGIN, Floats, Mask, Working, rounded_up


def total(numbers: Numbers, axes: int | Sequence[int], *, keepdims: bool = False) -> Numbers:
    """The sum along axes: one rounding less than there are terms; that of no numbers is zero."""
    chosen = sorted({each % numbers.ndim for each in ((axes,) if isinstance(axes, int) else axes)})
    rest = [each for each in range(numbers.ndim) if each not in chosen]
    lengths = [numbers.shape[each] for each in rest]
    flat = numbers.transposed((*rest, *chosen)).reshape((*lengths, _product(numbers.shape, chosen)))
    negative = np.signbit(flat.sign).all(axis=-1, keepdims=True) & (flat.shape[-1] > 0)
    zero = np.where(negative, -0.0, 0.0)
    found = _added_up(flat, flat.value, flat.error, flat.sign, flat.lost, zero, operations=-1)
    kept = [1 if each in chosen else extent for each, extent in enumerate(numbers.shape)]
    return found.reshape(tuple(kept if keepdims else lengths))


def contract(subscripts: str, left: Numbers, right: Numbers) -> Numbers:
    """The sums of products that an equation like `mk,kn->mn` says.

    Letters that the output lacks are summed up; no letter is twice in one operand. K products and their sum
    are K roundings, of which each may also underflow.
    """
    sources, target = subscripts.split("->")
    first, second = sources.split(",")
    order = [*target, *dict.fromkeys(each for each in first + second if each not in target)]
    return sum_of_products(
        _aligned(left, first, order), _aligned(right, second, order), len(order) - len(target)
    )


def sum_of_products(left: Numbers, right: Numbers, axes: int = 1) -> Numbers:
    """The products of elements, broadcast against each other, summed over the last axes, which go away."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    kept = shape[: len(shape) - axes]
    flat = (*kept, _product(shape, range(len(kept), len(shape))))
    a, b = left.broadcast(shape).reshape(flat), right.broadcast(shape).reshape(flat)
    ours, theirs = np.abs(a.value.floats()), np.abs(b.value.floats())
    with np.errstate(over="ignore", invalid="ignore"):
        error = ours * b.error + theirs * a.error + a.error * b.error
        sign = a.sign * b.sign
    error = np.where((a.error == 0) & (b.error == 0), 0.0, rounded_up(error))
    lost = a.lost | b.lost
    return _added_up(a, a.value * b.value, error, sign, lost, np.zeros(()), operations=0).reshape(kept)


def _aligned(numbers: Numbers, letters: str, order: Sequence[str]) -> Numbers:
    """With an axis for each letter of the order, of length 1 for those that the operand has not."""
    moved = numbers.transposed(tuple(letters.index(each) for each in order if each in letters))
    extents = iter(moved.shape)
    return moved.reshape(tuple(next(extents) if each in letters else 1 for each in order))


def _added_up(
    like: Numbers,
    value: Rationals,
    error: Floats,
    sign: Floats,
    lost: Mask,
    zero: Floats,
    *,
    operations: int,
) -> Numbers:
    """Terms summed along their last axis, which stays with length 1.

    `operations` is 0 where each term is a product, which rounds and underflows, and -1 where it is a number.
    """
    working = like.working
    special = _special_sum(sign)
    summed = value.spread(sign.shape).total(sign.ndim - 1)
    gone = np.asarray(lost.any(axis=-1, keepdims=True))
    if not working.is_float:
        return settled(working, summed, np.zeros(special.shape), special, zero, gone)
    sizes = np.where(np.isfinite(sign), rounded_up(np.abs(value.floats()) + error), 0.0)
    most = rounded_up(float_total(sizes, -1))
    terms = np.count_nonzero(sizes, axis=-1, keepdims=True)
    roundings = np.maximum(terms + operations, 0)
    exact = (error == 0).all(axis=-1, keepdims=True) & _adds_exactly(working, value, most)
    working.note_chain(~exact & (terms > 1))
    charge = roundings * (working.unit * (1 + 2 * working.unit * roundings) * most + working.least)
    carried = rounded_up(float_total(error, -1))
    bound = np.where(exact | (roundings == 0), carried, rounded_up(carried + charge))
    tiny = (sizes > 0) & (sizes < working.least_normal)
    if working.flushes(tiny | _small(summed, bound, working)):
        bound = rounded_up(bound + (terms + 1) * working.least_normal)
    gone = gone | ((terms > 1) & (most * (1 + MARGIN) >= working.greatest))
    return settled(working, summed, bound, special, zero, gone)


def _special_sum(sign: Floats) -> Floats:
    """NaN and infinities added up along the last axis; 0 where there are none."""
    found = np.zeros((*sign.shape[:-1], 1))
    with np.errstate(invalid="ignore"):
        for each in np.moveaxis(np.where(np.isfinite(sign), 0.0, sign), -1, 0):
            found = found + each[..., None]
    return found


def _adds_exactly(working: Working, value: Rationals, most: Floats) -> Mask:
    """Where every partial sum in any order is a number of the working precision."""
    shape = value.shape
    quantum = np.min(quanta(value.spread(shape)), axis=-1, keepdims=True, initial=np.inf)
    with np.errstate(over="ignore"):
        fits = most <= np.ldexp(quantum, working.layout.precision)
    return np.asarray(fits & (quantum >= working.least))


def _small(value: Rationals, error: Floats, working: Working) -> Mask:
    size = np.abs(value.floats())
    return np.asarray((size + error > 0) & (size - error < working.least_normal))


def _product(shape: Sequence[int], axes: Sequence[int]) -> int:
    """How many elements some axes have."""
    found = 1
    for each in axes:
        found *= shape[each]
    return found
