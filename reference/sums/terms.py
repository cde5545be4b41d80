"""What is added up: numbers, or products of numbers, along a last axis, and what their sums are exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.accumulations import WHOLE, RunningAxis
from reference.numbers.exact_sums import GREATEST_POWER, quanta
from reference.numbers.number_arrays import Numbers, beside_open
from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask, Working, rounded_up

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
