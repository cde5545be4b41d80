"""Exact results with their errors become elements of the output type, and what may stand in their place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BINARY32, BINARY64, ElementType, FloatLayout
from reference.numbers.nearest_floats import nearest_floats, ratio_up
from reference.numbers.numbers import encode, largest, layout_of, smallest_normal, storage_of
from reference.numbers.rationals import Rationals
from reference.numbers.working import MARGIN, Mask
from reference.sums.sums import Sums

NOT_FINITE = (math.inf, -math.inf, math.nan)
_SCALE = 64
"""Numbers are compared over two to this: so float64 holds those beyond its own greatest one."""
FEW = 8
"""At most so many integers are listed one by one; more are allowed as a distance."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """Flat arrays: elements in storage, the distance allowed to each, and further values by index."""

    elements: NDArray[Any]
    allowed: NDArray[np.float64]
    alternatives: dict[int, tuple[Any, ...]]

    @property
    def spread(self) -> NDArray[np.float64]:
        """How far from its element each of the integers lies that are accepted in its place, at most."""
        farthest = self.allowed.copy()
        for index, others in self.alternatives.items():
            apart = max(abs(int(each) - int(self.elements[index])) for each in others)
            farthest[index] = max(farthest[index], float_up(Fraction(apart)))
        return farthest


def working_layout(element_type: ElementType) -> FloatLayout:
    """The precision in which values are computed: the wider of float32 and the element type."""
    return BINARY64 if element_type.component.name == "double" else BINARY32


def round_floats(element_type: ElementType, sums: Sums, overflow: Mask | None, *, flush: bool) -> Rounded:
    """Correctly rounded sums; a route's result is within its error, rounded once more to a narrower type.

    `overflow` are those that an overflow on the way may make an infinity or NaN of. With `flush` subnormal
    results are zero, and either where the error leaves it open.
    """
    layout, working = layout_of(element_type), working_layout(element_type)
    errors = sums.error.reshape(-1)
    value = sums.value.spread(sums.error.shape).arranged(lambda each: each.reshape(-1))
    nearest = nearest_floats(element_type, value)
    elements, results = storage_of(element_type, nearest.bits), nearest.results
    reached = np.zeros(errors.shape, dtype=np.bool_) if overflow is None else overflow.reshape(-1)
    size = np.abs(nearest.floats)
    if overflow is None and not errors.any() and (size < float(largest(layout)) / 2).all():
        # Nothing is open, and nothing is near the greatest number.
        rounded = Rounded(elements, np.zeros(errors.shape), {})
        return _flushed(element_type, rounded, nearest.floats, errors) if flush else rounded
    open_ones = (errors > 0) & np.isfinite(results)
    with np.errstate(over="ignore", invalid="ignore"):
        error = errors + nearest.moved(open_ones)
        half = _half_ulps(layout, size + errors) if layout.precision < working.precision else 0.0
        allowed = np.nextafter(np.nextafter(error, math.inf) + half, math.inf)
        below = size + errors < float(largest(layout)) * (1 - MARGIN)
    allowed = np.where(open_ones, allowed, 0.0)
    chosen = (errors > 0) | (size >= float(largest(layout)) / 2) | reached
    unbounded = chosen & ~np.isfinite(errors)
    allowed[unbounded] = math.inf
    # Elsewhere nothing is near enough to the greatest number.
    near = np.flatnonzero(chosen & ~unbounded & (~below | reached))
    alternatives: dict[int, tuple[Any, ...]] = {}
    for index, ends in zip(near.tolist(), _ends_of(element_type, value, near, errors, results), strict=True):
        if ends is None:
            allowed[index] = math.inf
            continue
        others = [_element(element_type, each) for each in ends]
        if reached[index]:
            others += [_element(element_type, each) for each in NOT_FINITE]
        if others:
            alternatives[index] = tuple(dict.fromkeys(others))
    rounded = Rounded(elements, allowed, alternatives)
    return _flushed(element_type, rounded, nearest.floats, errors) if flush else rounded


def float_up(value: Fraction) -> float:
    """A float64 that is not less than a number: the number itself where it is one."""
    return ratio_up(value.numerator, value.denominator)


def _half_ulps(layout: FloatLayout, magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half a unit in the last place of a layout at each magnitude: the error of one rounding."""
    exponents = np.maximum(np.frexp(magnitudes)[1] - 1, layout.least_exponent)
    return np.where(np.isfinite(magnitudes), np.ldexp(1.0, exponents - layout.precision), np.inf)


@cache
def _overflow_threshold(layout: FloatLayout) -> Fraction:
    """Numbers from here on round to infinity."""
    step = Fraction(2) ** (layout.greatest_exponent - layout.precision + 1)
    return largest(layout) + step / 2


def _ends_of(
    element_type: ElementType,
    value: Rationals,
    places: NDArray[np.intp],
    errors: NDArray[np.float64],
    results: NDArray[np.float64],
) -> list[tuple[float | Fraction, ...] | None]:
    """What else each result near the greatest finite number may be; None for anything.

    What float64 does not tell for certain is compared exactly.
    """
    if not places.size:
        return []
    layout = layout_of(element_type)
    scale = 1 << _SCALE
    denominator = value.denominator if value.denominator.shape == () else value.denominator[places]
    exact = Rationals(value.numerator[places], np.asarray(denominator * scale, dtype=object))
    size, slack = np.abs(exact.floats()), np.ldexp(errors[places], -_SCALE)
    greatest = float(largest(layout) / scale)
    threshold = float(_overflow_threshold(layout) / scale)
    negative, infinite = exact.signs() < 0, np.isinf(results[places])
    with np.errstate(over="ignore"):
        least, most = size - slack, size + slack
        safe = np.where(infinite, least > threshold * (1 + MARGIN), most < threshold * (1 - MARGIN))
        beyond = ~infinite & (most > threshold * (1 + MARGIN))
        low = infinite & (least < greatest * (1 - MARGIN))
    found: list[tuple[float | Fraction, ...] | None] = []
    for at, place in enumerate(places.tolist()):
        if safe[at]:
            found.append(())
        elif beyond[at]:
            found.append((-math.inf if negative[at] else math.inf,))
        elif low[at]:
            found.append(None)
        else:
            ratio = value.fraction(place)
            found.append(_ends(layout, ratio, Fraction(float(errors[place])), bool(infinite[at])))
    return found


def _ends(
    layout: FloatLayout, exact: Fraction, slack: Fraction, infinite: bool
) -> tuple[float | Fraction, ...] | None:
    """What else a result near the greatest finite number may be; None for anything."""
    threshold = _overflow_threshold(layout)
    size, sign = abs(exact), -1 if exact < 0 else 1
    if infinite:
        if size - slack >= threshold:
            return ()
        return (sign * largest(layout),) if size - slack > largest(layout) else None
    return () if size + slack < threshold else (sign * math.inf,)


@cache
def _element(element_type: ElementType, value: float | Fraction) -> Any:
    """A number as an element in storage."""
    return encode(element_type, [value]).tolist()[0]


def _flushed(
    element_type: ElementType, kept: Rounded, exact: NDArray[np.float64], errors: NDArray[np.float64]
) -> Rounded:
    least = float(smallest_normal(layout_of(element_type)))
    size = np.abs(exact)
    zero = np.zeros(1, dtype=element_type.storage)[0]
    elements = np.where((size < least) & (size > 0), zero, kept.elements)
    allowed = np.where((size < least) & (errors == 0), 0.0, kept.allowed)
    alternatives = dict(kept.alternatives)
    finite = np.isfinite(size) & np.isfinite(errors)
    size, errors = np.where(finite, size, 0.0), np.where(finite, errors, 0.0)
    # An exact zero is zero either way.
    open_ones = (size > 0) & (errors > 0) & (size - errors < least) & (size >= least - errors)
    for index in np.flatnonzero(open_ones).tolist():
        other = zero if size[index] >= least else kept.elements[index]
        alternatives[index] = (*alternatives.get(index, ()), np.asarray(other).item())
    return Rounded(elements.astype(kept.elements.dtype), allowed, alternatives)


def round_integers(element_type: ElementType, sums: Sums, conversion: str, overflow: str) -> Rounded:
    """Sums converted to an integer type by a rule; what a route may reach instead is listed or allowed."""
    low, high = element_type.integer_range
    errors = sums.error.reshape(-1)
    elements = np.zeros(errors.shape, dtype=element_type.storage)
    allowed = np.zeros(errors.shape)
    alternatives: dict[int, tuple[Any, ...]] = {}
    numerators = np.broadcast_to(sums.value.numerator, sums.error.shape).flat
    denominators = np.broadcast_to(sums.value.denominator, sums.error.shape).flat
    exact = zip(numerators, denominators, errors.tolist(), strict=True)
    for index, (numerator, denominator, error) in enumerate(exact):
        expected = _fit(round_ratio(numerator, denominator, conversion), overflow, low, high)
        elements[index] = expected
        if error == 0:
            continue
        if not math.isfinite(error):
            allowed[index] = math.inf
            continue
        doubt, parts = error.as_integer_ratio()
        scaled, doubt, parts = numerator * parts, doubt * denominator, denominator * parts
        least = round_ratio(scaled - doubt, parts, conversion)
        most = round_ratio(scaled + doubt, parts, conversion)
        if most - least <= FEW:
            reached = {_fit(each, overflow, low, high) for each in range(least, most + 1)} - {expected}
            if reached:
                alternatives[index] = tuple(sorted(reached))
        else:
            ends = (_fit(least, "saturate", low, high), _fit(most, "saturate", low, high))
            if not (overflow == "saturate" or low <= least <= most <= high):
                # Of what was rounded in double precision, and so may lie beyond, processors make the nearer
                # end or the least integer.
                nearest = _fit(round_ratio(numerator, denominator, conversion), "saturate", low, high)
                alternatives[index] = tuple(sorted({expected, low} - {nearest}))
                elements[index] = expected = nearest
            allowed[index] = float_up(Fraction(max(abs(expected - each) for each in ends)))
    return Rounded(elements, allowed, alternatives)


def round_ratio(numerator: int, denominator: int, conversion: str) -> int:
    """A ratio, its denominator above 0, to an integer.

    The conversions: truncate, floor, ceil, half_even, half_away, half_up.
    """
    match conversion:
        case "truncate":
            return numerator // denominator if numerator >= 0 else -(-numerator // denominator)
        case "floor":
            return numerator // denominator
        case "ceil":
            return -(-numerator // denominator)
        case "half_even":
            whole, rest = divmod(numerator, denominator)
            return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))
        case "half_away":
            nearest = (2 * abs(numerator) + denominator) // (2 * denominator)
            return nearest if numerator >= 0 else -nearest
        case "half_up":
            return (2 * numerator + denominator) // (2 * denominator)
    raise ValueError(f"no conversion to integers is called {conversion}")


def round_by(value: Fraction, conversion: str) -> int:
    """A number to an integer; see `round_ratio`."""
    return round_ratio(value.numerator, value.denominator, conversion)


def _fit(value: int, overflow: str, low: int, high: int) -> int:
    """An integer in [low, high]: saturated, or wrapped around."""
    if overflow == "wrap":
        return (value - low) % (high - low + 1) + low
    return min(max(value, low), high)


def convert(value: Fraction, conversion: str, overflow: str, low: int, high: int) -> int:
    """A number to an integer of the range [low, high]."""
    return _fit(round_by(value, conversion), overflow, low, high)
