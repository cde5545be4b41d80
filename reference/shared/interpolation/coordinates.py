"""From coordinates in the resized tensor to the original: exact, bounded, and by every listed route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.errors import InternalError
from reference.numbers.estimates import Estimate
from reference.numbers.working import Floats
from reference.shared.interpolation.routes import Estimated, RouteArithmetic, routes

HALF = Fraction(1, 2)
WHOLE = (Fraction(0), Fraction(1))


@dataclass(frozen=True)
class CoordinateAxis:
    """One axis of a resize, with all that its coordinates depend on.

    `scale` is (numerator, denominator): a given scale over 1, which no route rounds, or a ratio of lengths.
    `target_scale` is the scale, likewise, that makes the target length where that is fractional:
    length_original * (to - from) * scale, of the region `part` = (from, to) that the length is made of;
    `fractional` says whether the formulas' length_resized is that target, else it is the output's length.
    `start` and `end` are the region of interest in the formulas. `of_one` is where align_corners looks for
    a single element.
    """

    mode: str
    length_original: int
    length_resized: int
    scale: tuple[Fraction, int]
    target_scale: tuple[Fraction, int] | None = None
    fractional: bool = False
    part: tuple[Fraction, Fraction] = WHOLE
    start: Fraction = Fraction(0)
    end: Fraction = Fraction(1)
    of_one: str = "start"

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # What is kept of an axis is found by it under every combination of readings.
        return hash(tuple(getattr(self, each.name) for each in fields(self)))

    @property
    def exact_scale(self) -> Fraction:
        return self.scale[0] / self.scale[1]

    @property
    def exact_length(self) -> Fraction:
        """length_resized as the formulas take it."""
        if self.fractional and self.target_scale is not None:
            factor = self.target_scale[0] / self.target_scale[1]
            return factor * self.length_original * (self.part[1] - self.part[0])
        return Fraction(self.length_resized)


def document_formula(axis: CoordinateAxis, x: Any, by: RouteArithmetic) -> Any:
    """x_original of the coordinates `x` in the resized tensor, as the ONNX document writes it."""
    length = _length(axis, by)
    last = by.constant(axis.length_original - 1)
    half = by.constant(HALF)
    match axis.mode:
        case "half_pixel":
            return by.divide_add(x + half, by.ratio(*axis.scale), -half)
        case "half_pixel_symmetric":
            adjustment = by.quotient(by.constant(axis.length_resized), _target(axis, by))
            offset = by.constant(Fraction(axis.length_original, 2)) * (by.constant(1) - adjustment)
            return offset + by.divide(x + half, by.ratio(*axis.scale)) - half
        case "pytorch_half_pixel":
            if axis.exact_length > 1:
                return by.divide_add(x + half, by.ratio(*axis.scale), -half)
            return x * by.constant(0)
        case "align_corners":
            if axis.exact_length == 1:
                return x * by.constant(0) + (last * half if axis.of_one == "center" else by.constant(0))
            return by.divide(x * last, length - by.constant(1))
        case "asymmetric":
            return by.divide(x, by.ratio(*axis.scale))
        case "tf_half_pixel_for_nn":
            return by.divide(x + half, by.ratio(*axis.scale))
        case "tf_crop_and_resize":
            start, end = by.constant(axis.start), by.constant(axis.end)
            if axis.exact_length > 1:
                moved = by.divide(x * (end - start) * last, length - by.constant(1))
                return by.multiply_add(start, last, moved)
            return x * by.constant(0) + half * (start + end) * last
    raise InternalError(f"no coordinate formula for {axis.mode}")


def regrouped_formula(axis: CoordinateAxis, x: Any, by: RouteArithmetic) -> Any:
    """The same with the step between two coordinates computed once; None where that changes nothing."""
    half, one = by.constant(HALF), by.constant(1)
    last = by.constant(axis.length_original - 1)
    if axis.mode in ("half_pixel", "asymmetric", "tf_half_pixel_for_nn", "pytorch_half_pixel"):
        numerator, denominator = axis.scale
        if denominator == 1 or (axis.mode == "pytorch_half_pixel" and axis.exact_length <= 1):
            return None
        step = by.ratio(denominator, int(numerator))
        if axis.mode == "asymmetric":
            return x * step
        if axis.mode == "tf_half_pixel_for_nn":
            return (x + half) * step
        return by.multiply_add(x + half, step, -half)
    if axis.exact_length <= 1 or axis.mode == "half_pixel_symmetric":
        return None
    if axis.mode == "align_corners":
        return x * (last / (_length(axis, by) - one))
    start, end = by.constant(axis.start), by.constant(axis.end)
    step = by.divide((end - start) * last, _length(axis, by) - one)
    return by.two_products(start, last, x, step)


def _length(axis: CoordinateAxis, by: RouteArithmetic) -> Any:
    return _target(axis, by) if axis.fractional else by.constant(axis.length_resized)


def _target(axis: CoordinateAxis, by: RouteArithmetic) -> Any:
    if axis.target_scale is None:
        return by.constant(axis.length_resized)
    target = by.ratio(*axis.target_scale) * by.constant(axis.length_original)
    if axis.part == WHOLE:
        return target
    return target * (by.constant(axis.part[1]) - by.constant(axis.part[0]))


@dataclass(frozen=True, eq=False)
class Coordinates:
    """x_original of every position along an axis: the estimate, and one row for each route (float64)."""

    estimate: Estimate
    by_route: Floats

    @cached_property
    def reached(self) -> list[tuple[Fraction, ...]]:
        """At each position the exact coordinate, and then what else routes reach, rising."""
        exact = self.estimate.value.fractions()
        near = [set(map(Fraction, set(each))) for each in self.by_route.T.tolist()]
        return [(each, *sorted(others - {each})) for each, others in zip(exact, near, strict=True)]

    def decide(self, rule: Callable[[Fraction], Any]) -> list[tuple[Any, ...]]:
        """What a rule says at each position: of the exact coordinate first, then what else routes reach."""
        return [tuple(dict.fromkeys(map(rule, each))) for each in self.reached]


@lru_cache(maxsize=4096)
def coordinates(axis: CoordinateAxis) -> Coordinates:
    """The coordinates in the original tensor of every position along an axis."""
    positions = np.arange(axis.length_resized)
    whole = np.array(positions.tolist(), dtype=object)
    estimate = document_formula(axis, Estimate.exact(whole), Estimated())
    found: list[NDArray[Any]] = []
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for route in routes():
            x = positions.astype(route.work)
            for formula in (document_formula, regrouped_formula):
                result = formula(axis, x, route)
                if result is not None:
                    found.append(np.asarray(result).astype(route.result).astype(np.float64))
    return Coordinates(estimate, np.array(found).reshape(len(found), axis.length_resized))
