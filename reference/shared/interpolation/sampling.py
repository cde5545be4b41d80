"""Means of elements around locations that are data: taps along each axis, and their weighted sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.estimates import Estimate
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import SLACK, Floats, Mask, Working, rounded_up
from reference.shared.interpolation.kernels import SUPPORT, cubic, linear
from reference.sums.summation import sum_of_products

Padding = Literal["zeros", "border", "reflection"]
Places = NDArray[np.intp]
COEFFICIENT = Fraction(-3, 4)
"""Of the cubic kernel."""
FARTHEST = 0.25
"""Locations of which a program knows less than this, in elements, are open."""


@dataclass(frozen=True, eq=False)
class Locations:
    """Where along one axis: exact coordinates in elements, how far a program may hold them from these.

    Those that are `open` are no numbers, or so uncertain that anything may come of them. Those that are
    `shared` were brought to an end: a program that brings elements there instead weighs one several times.
    """

    exact: list[Fraction]
    error: Floats
    open: Mask
    shared: Mask

    def beyond(self, low: Fraction | int, high: Fraction | int) -> tuple[Mask, Mask]:
        """Which are outside of an interval, and of which that hangs on rounding."""
        # Integers over the denominators of the ends: much quicker than Fractions.
        (least, under), (most, over) = low.as_integer_ratio(), high.as_integer_ratio()
        outside, apart = np.zeros(len(self.exact), dtype=np.bool_), np.zeros(len(self.exact))
        for index, each in enumerate(self.exact):
            top, bottom = each.numerator, each.denominator
            below, above = least * bottom - top * under, top * over - most * bottom
            outside[index] = below > 0 or above > 0
            apart[index] = min(abs(below) / (bottom * under), abs(above) / (bottom * over))
        return outside, np.asarray((self.error > 0) & (apart <= self.error * (1 + SLACK)))


@dataclass(frozen=True, eq=False)
class Taps:
    """The elements that each location takes along one axis, (locations, taps), and their weights."""

    places: Places
    inside: Mask
    weights: Numbers
    open: Mask
    shared: Mask

    def at(self, which: Places) -> Taps:
        """Those of some locations, in any order."""
        weights = self.weights.arranged(lambda each: each[which])
        return Taps(self.places[which], self.inside[which], weights, self.open[which], self.shared[which])


def locations(given: Numbers, extent: int, padding: Padding) -> Locations:
    """Coordinates along an axis; those far outside are brought near, where padding makes that the same.

    Their fractions stay: the weights of the one element that they have round as others do.
    """
    exact = given.value.spread(given.shape).fractions()
    error, unknown = given.error.reshape(-1).copy(), ~given.finite.reshape(-1) | given.lost.reshape(-1)
    for index, each in enumerate(exact):
        near = -3 * each.denominator <= each.numerator <= (extent + 2) * each.denominator
        if padding != "reflection" and not (near and error[index] < FARTHEST):
            apart = Fraction(0) if math.isinf(error[index]) else Fraction(float(error[index]))
            if not math.isinf(error[index]) and each - apart > extent + 3:
                exact[index] = extent + 3 + each % 1
                error[index] = min(error[index], given.working.unit)
            elif not math.isinf(error[index]) and each + apart < -4:
                exact[index] = each % 1 - 5
                error[index] = min(error[index], given.working.unit)
        if error[index] >= FARTHEST or unknown[index]:
            exact[index], error[index], unknown[index] = Fraction(0), 0.0, True
    return Locations(exact, error, unknown, np.zeros(len(exact), dtype=np.bool_))


def clamped(where: Locations, low: Fraction | int, high: Fraction | int) -> Locations:
    """The same brought between two ends; nothing is uncertain where every program has the end."""
    exact, error, shared = list(where.exact), where.error.copy(), where.shared.copy()
    (least, under), (most, over) = low.as_integer_ratio(), high.as_integer_ratio()
    for index, each in enumerate(exact):
        top, bottom = each.numerator, each.denominator
        if least * bottom <= top * under and top * over <= most * bottom:
            continue
        exact[index] = min(max(each, Fraction(low)), Fraction(high))
        beyond = abs(each - exact[index])
        if beyond:
            shared[index] |= bool(error[index]) or each.denominator > 1
            error[index] = max(error[index] - float(beyond) * (1 - SLACK), 0.0)
    return replace(where, exact=exact, error=error, shared=shared)


def reflected(where: Locations, low: Fraction, high: Fraction, layout: FloatLayout) -> Locations:
    """The same, reflected at both ends until it is between them; each turn and remainder is rounded."""
    exact, error, unknown = list(where.exact), where.error.copy(), where.open.copy()
    unit = math.ldexp(1.0, -layout.precision)
    for index, each in enumerate(exact):
        if low <= each <= high:
            continue
        turns, rest = divmod(each - low, high - low)
        exact[index] = low + rest if turns % 2 == 0 else high - rest
        steps = Rationals.of([each - low, each - high, rest, exact[index]])
        if error[index] or not steps.representable(layout).all():
            error[index] += 4 * unit * float(abs(each) + high + 1)
        if error[index] >= FARTHEST:
            exact[index], error[index], unknown[index] = low, 0.0, True
    return Locations(exact, error, unknown, where.shared)


def taps_of(
    where: Locations,
    extent: int,
    mode: Literal["linear", "cubic"],
    padding: Padding,
    working: Working,
    layout: FloatLayout,
    ends: tuple[Fraction, Fraction] | None = None,
    *,
    alone: bool = False,
) -> Taps:
    """What a kernel takes around each location; `ends` are where reflection turns round.

    With `alone` those of the exact location, else also those that rounding may bring in.
    """
    floors = np.array([math.floor(each) for each in where.exact], dtype=np.intp).reshape(-1, 1)
    rest = np.array([each - math.floor(each) for each in where.exact], dtype=np.float64)
    reach = SUPPORT[mode]
    crosses_down = not alone and bool(((where.error > 0) & (rest <= where.error)).any())
    crosses_up = not alone and bool(((where.error > 0) & (rest + where.error >= 1)).any())
    offsets = np.arange(1 - reach - crosses_down, reach + 1 + crosses_up)
    index = floors + offsets
    count = len(where.exact)
    value = Rationals.of(np.array(where.exact, dtype=object).reshape(count, 1))
    position = Estimate(value, where.error.reshape(count, 1), np.zeros((count, 1)), layout)
    distance = position - Estimate.exact(index.astype(object), layout)
    found = linear(distance) if mode == "linear" else cubic(distance, COEFFICIENT)
    weights = Numbers.exact(found.value.spread(index.shape), working)
    weights = replace(weights, error=np.array(np.broadcast_to(found.error, index.shape)))
    working.note_chain(weights.beyond_type())
    inside = (index >= 0) & (index < extent)
    if padding == "reflection" and ends is not None:
        twice = [int(2 * each) for each in ends]
        places = _turned(index, twice[0], twice[1])
        inside = np.ones(index.shape, dtype=np.bool_)
    else:
        places = np.clip(index, 0, max(extent - 1, 0))
        inside = inside if padding == "zeros" else np.ones(index.shape, dtype=np.bool_)
    return Taps(np.asarray(places, dtype=np.intp), inside, weights, where.open, where.shared)


def _turned(index: Places, twice_low: int, twice_high: int) -> Places:
    """Indices reflected at ends that are given twice as great."""
    span = twice_high - twice_low
    ahead = 2 * index - twice_low
    turns = ahead // span
    rest = ahead - turns * span
    return np.asarray(np.where(turns % 2 == 0, twice_low + rest, twice_high - rest) // 2, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Samples:
    """All taps of all axes of each location: flat places, weights, (locations, taps)."""

    places: Places
    inside: Mask
    weights: Numbers
    open: Mask
    shared: Mask
    is_linear: bool

    def shifted(self, begins: Places) -> Samples:
        """The same of images whose elements begin at places of their own, one for each location."""
        return replace(self, places=self.places + begins[:, None])

    def taken(self, data: Numbers) -> Numbers:
        """The elements of data of shape (..., flat places): (..., locations, taps), zero outside."""
        if not data.shape[-1]:
            nothing = np.zeros((*data.shape[:-1], *self.places.shape), dtype=object)
            return Numbers.exact(nothing, data.working)
        found = data.arranged(lambda each: each[..., self.places])
        return found if self.inside.all() else found.where(np.broadcast_to(self.inside, found.shape), 0)


def in_a_row(data: Numbers) -> Numbers:
    """Images of shape (images, channels, extents), all of a channel behind each other: (channels, places)."""
    images, channels = data.shape[:2]
    flat = data.reshape((images, channels, prod(data.shape[2:])))
    return flat.transposed((1, 0, 2)).reshape((channels, images * flat.shape[2]))


def joined(axes: Sequence[Taps], extents: Sequence[int], mode: str) -> Samples:
    """The taps of all axes together: every combination, with the product of the weights."""
    first = axes[0]
    places, inside, weights = first.places, first.inside, first.weights
    unknown, shared = first.open, first.shared
    count = len(unknown)
    for each, extent in zip(axes[1:], extents[1:], strict=True):
        shape = (count, places.shape[1] * each.places.shape[1])
        places = (places[:, :, None] * extent + each.places[:, None, :]).reshape(shape)
        inside = (inside[:, :, None] & each.inside[:, None, :]).reshape(shape)
        product = weights.reshape((*weights.shape, 1)) * each.weights.reshape(
            (count, 1, each.weights.shape[1])
        )
        weights, unknown, shared = product.reshape(shape), unknown | each.open, shared | each.shared
    return Samples(places, inside, weights, unknown, shared, mode == "linear")


def means(data: Numbers, samples: Samples, rank: int) -> Numbers:
    """The weighted sums of data of shape (..., flat places): (..., locations).

    They may be taken axis after axis, linear ones by steps `a + t (b - a)`, or of one element at a border
    several times. What is no number and may count or not leaves the sum open.
    """
    taken = samples.taken(data)
    sums = sum_of_products(taken, samples.weights)
    uneven = (sums.error > 0) | _uneven_by_axes(taken, samples.weights)
    if samples.is_linear:
        sums = _by_steps(sums, taken, rank, uneven | samples.shared)
    else:
        sums = _by_axes(sums, taken, samples.weights, rank, uneven)
    return opened(sums, doubtful(taken, samples, sums))


def doubtful(taken: Numbers, samples: Samples, sums: Numbers) -> Mask:
    """Where a number that is none may count or not, or a step takes it from itself; and open locations."""
    strange = ~taken.finite
    if not strange.any():
        return np.broadcast_to(samples.open, sums.shape)
    weights = samples.weights
    sure = np.abs(weights.value.spread(weights.shape).floats()) > weights.error
    unsure = (strange & ~sure).any(axis=-1)
    is_nan = (np.isnan(taken.sign) & sure).any(axis=-1)
    return (strange.any(axis=-1) & ~is_nan & (unsure | samples.is_linear)) | samples.open


def _by_steps(sums: Numbers, taken: Numbers, rank: int, uneven: Mask) -> Numbers:
    """With what a difference of two elements, its share and the sum err by, on each axis, where they do.

    Where one element is weighed several times its 2^rank products err by no more.
    """
    most = np.max(taken.magnitude, axis=-1, initial=0.0)
    more = 5 * rank * sums.working.unit * most
    return replace(sums, error=np.where(uneven, rounded_up(sums.error + more), 0.0))


def _by_axes(sums: Numbers, taken: Numbers, weights: Numbers, rank: int, uneven: Mask) -> Numbers:
    """With a product on each axis after the first, where a product of weights may be exact."""
    sizes = np.abs(weights.value.spread(weights.shape).floats())
    # An infinity without weight is no number of terms: where it is, `doubtful` says what becomes of the sum.
    with np.errstate(invalid="ignore"):
        products = taken.magnitude * sizes
        terms = reduce(np.add, np.moveaxis(products, -1, 0), np.zeros(products.shape[:-1]))
    more = (rank - 1) * sums.working.unit * terms
    return replace(sums, error=np.where(uneven, rounded_up(sums.error + more), 0.0))


def _uneven_by_axes(taken: Numbers, weights: Numbers) -> Mask:
    """Where means axis after axis may round, be their sum of products exact or not.

    They do not where an element alone has weight, and where the last digit of any share of any element,
    below what all elements have in common, fits below four times the greatest one: no difference of two, and
    no cubic mean of up to three axes, is greater.
    """
    values, working = taken.value.spread(taken.shape), taken.working
    share = np.min(weights.value.spread(weights.shape).last_digits(), axis=-1)
    last = share + np.min(values.last_digits(), axis=-1, initial=np.inf)
    most = np.max(taken.magnitude, axis=-1, initial=0.0)
    with np.errstate(over="ignore"):
        fits = 4 * most <= _powers(last + working.layout.precision)
        fits &= _powers(last) >= working.least_normal
    return np.asarray(~(fits | (share == 0)), dtype=np.bool_)


def _powers(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two to whole numbers; beyond float64 infinity or 0."""
    return np.ldexp(1.0, np.clip(exponents, -5000, 5000).astype(np.int64))
