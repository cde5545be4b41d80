"""Resize once more, from the document alone: plain loops over Fractions, nothing shared with the reference.

Values are Fractions (or anything, in nearest mode), tensors are a shape and a flat list in row-major order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)


class Undefined(Exception):
    """The document gives no result."""


@dataclass(frozen=True)
class Call:
    """A call in the document's words; `axes` None means all of them. The last lines are the readings."""

    shape: tuple[int, ...]
    data: tuple[Any, ...]
    scales: tuple[Fraction, ...] | None = None
    sizes: tuple[int, ...] | None = None
    roi: tuple[Fraction, ...] | None = None
    axes: tuple[int, ...] | None = None
    mode: str = "nearest"
    coordinates: str = "half_pixel"
    nearest_mode: str = "round_prefer_floor"
    cubic_coeff_a: Fraction = Fraction(-3, 4)
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation_value: Fraction = Fraction(0)
    policy: str = "stretch"
    given_scale: bool = True
    fractional_length: bool = False
    corners_of_one_at_center: bool = False
    roi_always_in_length: bool = False
    aspect_by_position: bool = False
    common_policy_scale: bool = False
    roi_never_in_length: bool = False
    fractional_policy_length: bool = False
    fractional_symmetric_width: bool = False


@dataclass(frozen=True)
class AxisNumbers:
    """What the document calls length_original, length_resized (as output, as in formulas), scale and roi."""

    old: int
    new: int
    length: Fraction
    target: Fraction
    scale: Fraction
    start: Fraction
    end: Fraction


def axis_numbers(call: Call) -> dict[int, AxisNumbers]:
    rank = len(call.shape)
    axes = [a + rank if a < 0 else a for a in (range(rank) if call.axes is None else call.axes)]
    found = {}
    for i, d in enumerate(axes):
        old = call.shape[d]
        crop = call.coordinates == "tf_crop_and_resize"
        start, end = Fraction(0), Fraction(1)
        if call.roi is not None and crop:
            start, end = call.roi[i], call.roi[i + len(axes)]
        if call.scales is not None:
            part = end - start
            if call.roi is not None and call.roi_always_in_length:
                part = call.roi[i + len(axes)] - call.roi[i]
            elif call.roi_never_in_length:
                part = Fraction(1)
            target = old * part * call.scales[i]
            new = math.floor(target)
            if new < 0:
                raise Undefined
            scale = call.scales[i] if call.given_scale or old == 0 else Fraction(new, old)
            length = target if call.fractional_length else Fraction(new)
        else:
            assert call.sizes is not None
            new = call.sizes[i]
            scale = Fraction(new, old) if old else Fraction(1)
            if call.policy != "stretch":
                if any(call.shape[axis] == 0 for axis in axes):
                    raise Undefined
                ratios = [
                    Fraction(size, call.shape[axis]) for size, axis in zip(call.sizes, axes, strict=True)
                ]
                common = min(ratios) if call.policy == "not_larger" else max(ratios)
                before = common * call.shape[i if call.aspect_by_position else d]
                new = math.floor(before + HALF)
                scale = common if call.common_policy_scale else Fraction(new, old)
                length = before if call.fractional_policy_length else Fraction(new)
                target = before if call.fractional_symmetric_width else Fraction(new)
            else:
                length = target = Fraction(new)
        found[d] = AxisNumbers(old, new, length, target, scale, start, end)
    return found


def x_original(call: Call, n: AxisNumbers, x: int) -> Fraction:
    match call.coordinates:
        case "half_pixel":
            return (x + HALF) / n.scale - HALF
        case "half_pixel_symmetric":
            return Fraction(n.old, 2) * (1 - n.new / n.target) + (x + HALF) / n.scale - HALF
        case "pytorch_half_pixel":
            return (x + HALF) / n.scale - HALF if n.length > 1 else Fraction(0)
        case "align_corners":
            if n.length == 1:
                return Fraction(n.old - 1, 2) if call.corners_of_one_at_center else Fraction(0)
            return x * (n.old - 1) / (n.length - 1)
        case "asymmetric":
            return x / n.scale
        case "tf_half_pixel_for_nn":
            return (x + HALF) / n.scale
        case "tf_crop_and_resize":
            if n.length > 1:
                return n.start * (n.old - 1) + x * (n.end - n.start) * (n.old - 1) / (n.length - 1)
            return HALF * (n.start + n.end) * (n.old - 1)
    raise AssertionError(call.coordinates)


def nearest(call: Call, x: Fraction) -> int:
    below = math.floor(x)
    part = x - below
    match call.nearest_mode:
        case "floor":
            return below
        case "ceil":
            return below if part == 0 else below + 1
        case "round_prefer_floor":
            return below + 1 if part > HALF else below
        case "round_prefer_ceil":
            return below + 1 if part >= HALF else below
    raise AssertionError(call.nearest_mode)


def hat(t: Fraction) -> Fraction:
    return max(Fraction(0), 1 - abs(t))


def keys(a: Fraction) -> Callable[[Fraction], Fraction]:
    def weight(t: Fraction) -> Fraction:
        t = abs(t)
        if t <= 1:
            return (a + 2) * t**3 - (a + 3) * t**2 + 1
        if t < 2:
            return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a
        return Fraction(0)

    return weight


def taps(call: Call, n: AxisNumbers, x: int) -> list[tuple[int, Fraction]] | None:
    """Pairs of an index in the original axis and its weight; None where the output is extrapolated."""
    where = x_original(call, n, x)
    if call.coordinates == "tf_crop_and_resize" and (where < 0 or where > n.old - 1):
        return None
    if call.mode == "nearest":
        return [(min(max(nearest(call, where), 0), n.old - 1), Fraction(1))]
    kernel, support = (hat, 1) if call.mode == "linear" else (keys(call.cubic_coeff_a), 2)
    stretch = max(Fraction(1), 1 / n.scale) if call.antialias else Fraction(1)
    reach = math.ceil(support * stretch) + 1
    found = []
    for i in range(math.floor(where) - reach, math.floor(where) + reach + 1):
        weight = kernel((i - where) / stretch)
        if weight == 0 or (call.exclude_outside and not 0 <= i < n.old):
            continue
        found.append((min(max(i, 0), n.old - 1), weight))
    total = sum((weight for _, weight in found), Fraction(0))
    if call.antialias or call.exclude_outside:
        if total == 0:
            raise Undefined
        found = [(i, weight / total) for i, weight in found]
    return found


def flat(shape: Sequence[int], index: Sequence[int]) -> int:
    position = 0
    for extent, each in zip(shape, index, strict=True):
        position = position * extent + each
    return position


def resize(call: Call) -> tuple[tuple[int, ...], list[Any]]:
    """The output's shape and elements: exact, before any rounding."""
    axes = axis_numbers(call)
    shape = tuple(axes[d].new if d in axes else extent for d, extent in enumerate(call.shape))
    if 0 in shape:
        return shape, []
    if any(n.old == 0 for n in axes.values()):
        raise Undefined
    by_axis = [
        [taps(call, axes[d], x) if d in axes else [(x, Fraction(1))] for x in range(extent)]
        for d, extent in enumerate(shape)
    ]
    output = []
    for index in itertools.product(*(range(extent) for extent in shape)):
        chosen = [by_axis[d][x] for d, x in enumerate(index)]
        if any(each is None for each in chosen):
            output.append(call.extrapolation_value)
            continue
        value: Any = Fraction(0)
        for combination in itertools.product(*(each for each in chosen if each is not None)):
            element = call.data[flat(call.shape, [i for i, _ in combination])]
            if call.mode == "nearest":
                value = element
            else:
                value += math.prod((weight for _, weight in combination), start=Fraction(1)) * element
        output.append(value)
    return shape, output
