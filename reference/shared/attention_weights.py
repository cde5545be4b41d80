"""Scores of keys for queries, and the weights that values get by them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from opcert.vocabulary.element_types import BINARY64, ELEMENT_TYPES
from reference.functions.functions import function_of
from reference.functions.stable_formulas import whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import Mask, Working, rounded_up
from reference.readings.choices import Choice
from reference.shared.extremes import greatest
from reference.sums.summation import sum_of_products, total

_DIGITS = 1400
"""After the point: more than the least positive double has, and as many again as a value of it."""


def products(rows: Numbers, columns: Numbers) -> Numbers:
    """The sums of rows[..., m, k] columns[..., n, k] over k."""
    shape = (*rows.shape[:-1], 1, rows.shape[-1])
    return sum_of_products(
        rows.reshape(shape), columns.reshape((*columns.shape[:-2], 1, *columns.shape[-2:]))
    )


def scaled_products(q: Numbers, k: Numbers, factor: Numbers, root: Numbers) -> Numbers:
    """Products times a factor, which is multiplied last, or with one side, or its root with both."""
    return whichever(
        products(q, k) * factor,
        lambda: products(q * root, k * root),
        lambda: products(q * factor, k),
    )


def scaling(
    working: Working, head: int, scale: Fraction | None, precision: Choice[str]
) -> tuple[Numbers, Numbers]:
    """The factor of scores, 1 over the root of the size of a head by default, and its root.

    A program of doubles may hold them as an attribute has them: in float32.
    """
    found = _factors(working, head, scale)
    if working.layout == BINARY64:
        narrow = _factors(replace(working, element_type=ELEMENT_TYPES["float"]), head, scale)
        if any(each.error.any() for each in narrow) and precision.ask() == "float32":
            factor, root = (replace(each, working=working) for each in narrow)
            return factor, root
    return found


def _factors(working: Working, head: int, scale: Fraction | None) -> tuple[Numbers, Numbers]:
    one = Numbers.exact(1, working)
    factor = one / Numbers.exact(head, working).sqrt() if scale is None else one.held(scale)
    return factor, factor.sqrt()


def weights_of(scores: Numbers, counted: Mask) -> Numbers:
    """The exponentials of scores divided by their sums along the last axis, the greatest subtracted first.

    Blocks of keys may have greatest elements of their own, and sums that are multiplied by an exponential
    where a later block has a greater one; exponentials may be powers of two of scores times a constant.
    """
    most, unit = greatest(scores, -1, Choice("propagates"), keepdims=True), scores.working.unit
    apart = scores - most
    with np.errstate(invalid="ignore"):
        sizes = np.abs(scores.value.floats()) + np.abs(most.value.floats()) + 3 * np.abs(apart.value.floats())
    charged = rounded_up(apart.error + unit * sizes)
    powers = function_of("exp", replace(apart, error=np.where(apart.finite, charged, apart.error)))
    shares = powers / total(powers, -1, keepdims=True)
    blocks = np.maximum(np.count_nonzero(counted, axis=-1, keepdims=True) - 1, 0)
    roundings = 8.0 * blocks
    if scores.working.is_relaxed:
        # An exponential errs by two units of each step of its argument, which the blocks have between them.
        away = np.where(apart.finite, np.abs(apart.value.floats()), 0.0)
        roundings = roundings + np.where(
            blocks > 0, 8 * np.max(away, axis=-1, keepdims=True, initial=0.0), 0.0
        )
    error = rounded_up(shares.error + unit * roundings * np.abs(shares.value.floats()))
    return replace(shares, value=_in_binary(shares.value), error=np.where(shares.finite, error, shares.error))


def weighed(weights: Numbers, v: Numbers) -> Numbers:
    """Sums of weights times values; an infinity or NaN counts, or not, where its weight may be nothing."""
    found = products(weights, v.transposed((0, 1, 3, 2)))
    wild = ~v.finite
    if wild.any():
        least = weights.value.floats() - weights.error <= 4 * weights.working.least_normal
        found = opened(found, np.asarray((least[..., None] & wild[:, :, None]).any(axis=3)))
    return found


def _in_binary(value: Rationals) -> Rationals:
    """Quotients between 0 and 1 with so many binary digits that no rounding tells them from what they are."""
    scaled = np.asarray(value.numerator, dtype=object) * (1 << _DIGITS)
    return Rationals(
        np.asarray(scaled // value.denominator, dtype=object), np.array(1 << _DIGITS, dtype=object)
    )
