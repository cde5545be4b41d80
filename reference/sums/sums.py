"""Weighted sums of tensor elements along several axes: exact values, and how far honest routes may end up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from opcert.vocabulary.element_types import BINARY32, FloatLayout
from reference.numbers.additions import along, total
from reference.numbers.estimates import rounded_up
from reference.numbers.numbers import Decoded, smallest_normal, smallest_subnormal
from reference.numbers.rationals import Integers, Rationals
from reference.numbers.working import SLACK, Floats, Mask, unit_roundoff
from reference.sums.weights import AxisWeights, outer


@dataclass(frozen=True, eq=False)
class Sums:
    """Exact sums, and the greatest distance of a route from them in working precision."""

    value: Rationals
    error: Floats


def weighted_sums(
    data: Decoded,
    weights: Sequence[tuple[int, AxisWeights]],
    layout: FloatLayout,
    *,
    direct: int,
    flush: bool,
    doubt: Floats | None = None,
) -> Sums:
    """Sum `data` (not finite elements count as 0) with the weights of each axis, for every output element.

    `layout` is the working precision of products and sums. The routes: one axis after another in any order,
    by weights or by steps, and all taps of up to `direct` axes in one sum of products, axes without weights
    among them; every sum in any order, fused or not. `flush` allows every product to be flushed to zero where
    it is subnormal. `doubt` is how far each element of the data may lie from what a program holds.
    """
    integers: Integers = data.integers
    denominators: list[tuple[int, Integers]] = []
    for axis, each in weights:
        integers = along(axis, np.broadcast_to(each.value.numerator, each.value.shape), integers)
        denominator = np.broadcast_to(each.value.denominator, (*each.value.shape[:1], 1)).reshape(-1)
        denominators.append((axis, denominator))
    shape = integers.shape
    denominator = outer(shape, denominators, np.multiply, np.array(1, dtype=object))
    scale = data.scale
    value = Rationals(
        np.asarray(integers * scale.numerator, dtype=object),
        np.asarray(denominator * scale.denominator, dtype=object),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        error = _bound_of_routes(data, weights, layout, shape, doubt, direct=direct, flush=flush)
    return Sums(value, error)


def _bound_of_routes(
    data: Decoded,
    weights: Sequence[tuple[int, AxisWeights]],
    layout: FloatLayout,
    shape: tuple[int, ...],
    given: Floats | None,
    *,
    direct: int,
    flush: bool,
) -> Floats:
    floats = Rationals(data.integers * data.scale.numerator, np.array(data.scale.denominator, dtype=object))
    signed = floats.floats()
    sizes = rounded_up(np.abs(signed))
    # Wide integers are rounded before anything is computed with them.
    held = floats.representable(layout) if data.wide else np.ones(signed.shape, dtype=np.bool_)
    fresh, doubt = np.where(held, 0.0, unit_roundoff(layout) * sizes), np.zeros(signed.shape)
    if given is not None:
        fresh = fresh + given * (1 + unit_roundoff(layout))
    shared: list[Floats] = []
    plain, fresh_data = signed, fresh
    for axis, each in weights:
        error = np.abs(each.shared) + each.fresh
        shared = [along(axis, each.floats, part) for part in shared] + [along(axis, each.shared, plain)]
        fresh = (
            along(axis, each.size, fresh) + along(axis, each.fresh, sizes) + along(axis, error, fresh + doubt)
        )
        doubt = along(axis, each.size, doubt) + along(axis, np.abs(each.shared), sizes)
        plain, sizes = along(axis, each.floats, plain), along(axis, each.size, sizes)
    # `doubt` is the shared errors' sum without cancellation; its slack covers the float64 sums above.
    apart = total(np.abs(np.array([np.zeros(shape), *shared])), 0)[0] + fresh
    magnitude = (sizes + fresh + doubt) * (1 + SLACK)
    bound = apart * (1 + SLACK) + doubt * SLACK
    stepped = _stepped(signed, fresh_data, weights, magnitude)
    halved = _halved(weights, shape, direct)
    roundings, joined, products = _count(weights, shape, halved, direct=direct)
    unit, narrow = unit_roundoff(layout), unit_roundoff(BINARY32)
    growth = outer(
        shape,
        [(axis, np.maximum(total(each.size, 1)[:, 0], 1.0)) for axis, each in weights],
        np.multiply,
        1.0,
    )
    least = float(smallest_normal(layout) if flush else smallest_subnormal(layout))
    relative = roundings * unit + joined * narrow
    halves = math.ldexp(1.0, data.integers.ndim)
    charge = relative * (1 + 4 * relative) * magnitude + (products + halves) * least * growth
    charge += unit * (1 + 4 * relative) * stepped
    exact = _is_exact(data, weights, layout, growth, halved) | (magnitude == 0)
    error = np.where(exact & (fresh == 0), 0.0, rounded_up(bound + charge))
    return np.where(np.isnan(error), np.inf, error)


def _stepped(
    signed: Floats, errors: Floats, weights: Sequence[tuple[int, AxisWeights]], magnitude: Floats
) -> Floats:
    """What the roundings of a difference and of its multiple may add to those of two products, over u.

    Along an axis two products and their sum cost 2 T, steps 2 t |b - a| + T; whichever is more counts. What
    other axes make of the difference is at most what they make of its magnitude, in any order.
    """
    total = np.zeros(magnitude.shape)
    for axis, each in weights:
        if not each.steps:
            continue
        rows = [-1 if other == axis else 1 for other in range(signed.ndim)]
        cost: Floats | None = None
        for step in each.steps:
            apart = np.abs(np.take(signed, step.high, axis) - np.take(signed, step.low, axis))
            apart = apart + np.take(errors, step.high, axis) + np.take(errors, step.low, axis)
            part = 2 * step.share.reshape(rows) * apart
            cost = part if cost is None else np.maximum(cost, part)
        assert cost is not None
        for other, their in weights:
            if other != axis:
                cost = along(other, their.size + np.abs(their.shared) + their.fresh, cost)
        total = total + np.maximum(cost * (1 + SLACK) - magnitude, 0.0)
    return total


def _halved(weights: Sequence[tuple[int, AxisWeights]], shape: tuple[int, ...], direct: int) -> Floats:
    """For each output element, on how many axes of one sum a route may take a border element as two halves.

    No sum has more than `direct` axes; those on which it adds up several elements come first.
    """
    ends: dict[int, Mask] = {}
    for axis, length in enumerate(shape):
        ends[axis] = np.isin(np.arange(length), (0, length - 1))
    ends |= {axis: each.border_copies for axis, each in weights}
    borders = outer(shape, [(axis, each * 1.0) for axis, each in ends.items()], np.add, 0.0)
    summed = outer(shape, [(axis, 1.0 - each.copies) for axis, each in weights], np.add, 0.0)
    return np.asarray(np.minimum(borders, np.maximum(direct - summed, 0.0)))


def _count(
    weights: Sequence[tuple[int, AxisWeights]], shape: tuple[int, ...], halved: Floats, *, direct: int
) -> tuple[Floats, Floats, Floats]:
    """For each output element the worst listed route's roundings, products of weights, and all products.

    The weights of several axes are multiplied in float32, whatever the data is; halving them is exact.
    """
    # A single tap of weight 1 is no operation.
    terms = [(axis, np.where(each.copies, 0.0, each.terms)) for axis, each in weights]
    separable = outer(shape, terms, np.add, 0.0)
    if not direct:
        return separable, np.zeros(shape), separable
    taps = outer(shape, [(axis, each.terms.astype(np.float64)) for axis, each in weights], np.multiply, 1.0)
    taps = np.ldexp(taps, halved.astype(np.int64))
    factors = outer(shape, [(axis, 1.0 - each.copies) for axis, each in weights], np.add, 0.0)
    return np.maximum(separable, taps), np.maximum(factors - 1, 0.0), separable + taps


def _is_exact(
    data: Decoded,
    weights: Sequence[tuple[int, AxisWeights]],
    layout: FloatLayout,
    growth: Floats,
    halved: Floats,
) -> Mask:
    """Where every product and partial sum of every route is representable, or the element is a copy."""
    shape = halved.shape
    copies = outer(shape, [(axis, each.copies) for axis, each in weights], np.logical_and, True)
    used = [abs(each) for each in data.integers.flat if each]
    if not used:
        return np.ones(shape, dtype=np.bool_)
    low = min((each & -each).bit_length() - 1 for each in used) + data.exponent
    widest = max(used)
    if any(each.steps for _, each in weights):
        # A difference of two elements may need one bit more than either.
        widest = max(widest, max(data.integers.flat) - min(data.integers.flat))
    high = widest.bit_length() + data.exponent
    quantum = outer(shape, [(axis, each.quantum) for axis, each in weights], np.multiply, 1.0)
    # Everything in units of the data's own quantum, so that nothing leaves float64's range.
    counts = math.ldexp(1.0, min(high - low, 1000)) * growth * (1 + SLACK)
    parts = np.ldexp(quantum, -halved.astype(np.int64))
    fits = counts <= np.ldexp(parts, layout.precision)
    fits &= growth <= np.ldexp(parts, BINARY32.precision)
    depth = np.frexp(np.where(quantum > 0, quantum, 1.0))[1] - 1 + low
    least = layout.least_exponent - layout.precision + 1
    # On a border a route may give an element's weight of 1 as two halves, along every axis.
    spare = 2 * data.integers.ndim
    # Two halves add up without rounding; quarters and eighths need the bits for it.
    whole = (halved < 2) | (high - low + halved <= layout.precision)
    copies = copies & whole & (low - spare >= least)
    within = (quantum > 0) & fits & (depth - spare >= least) & (high + 8 < layout.greatest_exponent)
    return np.asarray(within | copies)
