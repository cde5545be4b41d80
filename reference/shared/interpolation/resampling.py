"""Resampling a tensor along its axes: by nearest elements, or by weighted sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, UnstableLength
from reference.answers.rounding import (
    NOT_FINITE,
    Rounded,
    convert,
    round_floats,
    round_integers,
    working_layout,
)
from reference.numbers.additions import along
from reference.numbers.given_numbers import given_numbers
from reference.numbers.numbers import Decoded, decode, encode, layout_of, smallest_normal
from reference.numbers.working import Mask
from reference.readings.choices import Choice
from reference.shared.interpolation.asked_axes import Method, Plans, unmoved
from reference.shared.interpolation.axis_weights import axis_weights
from reference.shared.interpolation.coordinates import CoordinateAxis, coordinates
from reference.shared.interpolation.nearest import move, pixels, plain
from reference.shared.interpolation.routes import overflowing
from reference.shared.movement import NegativeZeros, Subnormals, moved
from reference.sums.sums import Sums, weighted_sums
from reference.sums.weights import AxisWeights

DIRECT_AXES = 3
"""Summing all taps in one sum is a listed route up to so many axes; nobody does it beyond."""
Strange = dict[int, tuple[float | None, tuple[float, ...]]]
"""What becomes of elements that take what is not finite, and what else they may be."""


@dataclass(frozen=True)
class Behaviours:
    """What documents leave to the implementation: see specs/readings.yaml.

    Those that a version does not name have one answer.
    """

    conversion: Choice[str]
    overflow: Choice[str]
    subnormals: Subnormals
    negative_zeros: NegativeZeros
    integer_steps: Choice[str] = Choice("once")
    unlisted_axes: Choice[str] = Choice("untouched")


def resample(X: Tensor, axes: Plans, method: Method, behaviours: Behaviours) -> Answer:
    """X resampled along the axes that are given (None: left as it is)."""
    kind = X.element_type
    shape = tuple(
        extent if axis is None else axis.length_resized for extent, axis in zip(X.shape, axes, strict=True)
    )
    if 0 in shape:
        rounded = Rounded(np.empty(0, dtype=kind.storage), np.zeros(0), {})
    else:
        made = _nearest(X, axes, method) if method.is_nearest else _means(X, axes, method, behaviours)
        rounded = _extrapolate(made, kind, axes, shape, method, behaviours)
    elements = Tensor(kind, rounded.elements.reshape(shape))
    if method.is_nearest:
        return moved(elements, behaviours.subnormals, behaviours.negative_zeros, rounded.alternatives)
    return Answer(elements, rounded.allowed.reshape(shape), rounded.alternatives or None)


def _nearest(X: Tensor, axes: Plans, method: Method) -> Rounded:
    chosen = [
        tuple((position,) for position in range(extent)) if axis is None else pixels(axis, method.rule)
        for extent, axis in zip(X.shape, axes, strict=True)
    ]
    return move(X.array, chosen)


def _means(X: Tensor, axes: Plans, method: Method, behaviours: Behaviours) -> Rounded:
    if X.element_type.kind == "complex":
        return _by_component(X, axes, method, behaviours)
    if X.element_type.is_integer:
        return _integers(X, axes, method, behaviours)
    return _floats(X, axes, method, behaviours)


def _floats(X: Tensor, axes: Plans, method: Method, behaviours: Behaviours) -> Rounded:
    flush = behaviours.subnormals.ask() == "flushed"
    if None in axes and behaviours.unlisted_axes.ask() == "weighed":
        axes = tuple(
            unmoved(extent) if axis is None else axis for extent, axis in zip(X.shape, axes, strict=True)
        )
    sums, strange, overflow = _sums(X, axes, method, flush)
    rounded = round_floats(X.element_type, sums, overflow, flush=flush)
    for index, (result, others) in strange.items():
        if result is not None:
            rounded.elements[index] = encode(X.element_type, [result])[0]
            rounded.allowed[index] = 0.0
            rounded.alternatives.pop(index, None)
            if overflow is not None and overflow.flat[index] and not math.isnan(result):
                others = NOT_FINITE
        if others:
            values = tuple(encode(X.element_type, others).tolist())
            rounded.alternatives[index] = (*rounded.alternatives.get(index, ()), *values)
    return rounded


def _integers(X: Tensor, axes: Plans, method: Method, behaviours: Behaviours) -> Rounded:
    """Means of integers, which become integers at the end or after each axis."""
    conversion, overflow = behaviours.conversion.ask(), behaviours.overflow.ask()
    moving = [number for number, each in _weights(axes, method) if not each.is_identity]
    # Filters go axis after axis. Nobody truncates or wraps between two, which would shift every mean.
    may_step = method.antialias and conversion.startswith("half") and overflow == "saturate"
    steps = behaviours.integer_steps.ask() if may_step and len(moving) > 1 else "once"
    if steps == "once":
        sums, _, _ = _sums(X, axes, method, False)
        return round_integers(X.element_type, sums, conversion, overflow)
    doubt = np.zeros(X.array.size)
    for number in sorted(moving, reverse=steps == "from_last_axis"):
        axis = axes[number]
        assert axis is not None
        sums = _step(X, doubt.tobytes(), number, axis, method)
        rounded = round_integers(X.element_type, sums, conversion, overflow)
        X = Tensor(X.element_type, rounded.elements.reshape(sums.error.shape))
        doubt = rounded.spread
    return rounded


@lru_cache(maxsize=64)
def _step(X: Tensor, doubt: bytes, number: int, axis: CoordinateAxis, method: Method) -> Sums:
    """The mean along one axis of integers that a program may hold so far (float64, as bytes) from others."""
    weights = [(number, axis_weights(axis, method))]
    direct = 0 if method.antialias else 1
    off = np.frombuffer(doubt, dtype=np.float64).reshape(X.shape)
    data, working = decode(X.element_type, X.array), working_layout(X.element_type)
    return weighted_sums(data, weights, working, direct=direct, flush=False, doubt=off)


def _weights(axes: Plans, method: Method) -> list[tuple[int, AxisWeights]]:
    return [(number, axis_weights(axis, method)) for number, axis in enumerate(axes) if axis is not None]


@lru_cache(maxsize=16)
def _sums(X: Tensor, axes: Plans, method: Method, flush: bool) -> tuple[Sums, Strange, Mask | None]:
    weights = _weights(axes, method)
    resized = [(number, each) for number, each in weights if not each.is_identity]
    data = decode(X.element_type, X.array)
    working = working_layout(X.element_type)
    least = smallest_normal(layout_of(X.element_type)) if flush else Fraction(0)
    # Else no product of an element with a weight is subnormal.
    sensitive = flush and given_numbers(X).least < least * 2**24
    if sensitive:
        kept = np.where(np.abs(data.integers) < least / data.scale, 0, data.integers)
        data = replace(data, integers=np.asarray(kept, dtype=object))
    direct = DIRECT_AXES if not method.antialias and len(resized) <= DIRECT_AXES else 0
    sums = weighted_sums(data, resized, working, direct=direct, flush=sensitive)
    return sums, _outcomes(data, weights), overflowing(data, weights, working)


def _by_component(X: Tensor, axes: Plans, method: Method, behaviours: Behaviours) -> Rounded:
    """Real and imaginary parts apart; the greater of their allowed errors holds for both.

    Where one part may be something else, so may the element, with whatever the other part may be.
    """
    component = X.element_type.component
    real = _floats(Tensor(component, X.array.real), axes, method, behaviours)
    imaginary = _floats(Tensor(component, X.array.imag), axes, method, behaviours)
    joined = np.empty(real.elements.shape, dtype=X.element_type.storage)
    joined.real, joined.imag = real.elements, imaginary.elements
    alternatives: dict[int, tuple[complex, ...]] = {}
    for index in sorted(real.alternatives.keys() | imaginary.alternatives.keys()):
        reals, imaginaries = (
            (plain(part.elements[index]), *part.alternatives.get(index, ())) for part in (real, imaginary)
        )
        pairs = [complex(first, second) for first in reals for second in imaginaries]
        alternatives[index] = tuple(pairs[1:])
    return Rounded(joined, np.maximum(real.allowed, imaginary.allowed), alternatives)


def _outcomes(data: Decoded, weights: Sequence[tuple[int, AxisWeights]]) -> Strange:
    """What elements with taps that are not finite become (by flat index), and what else they may be.

    The result is NaN, an infinity, or None where only taps of weight 0 are not finite, so that the finite
    taps' sum stands. A weight that is certainly not 0 passes NaN and infinities on; one that may be 0, or
    that a route may multiply with though it is 0, leaves both answers open.
    """
    strange = ~data.finite
    if not strange.any():
        return {}
    reached = strange.astype(np.float64)
    for axis, each in weights:
        reached = along(axis, each.touched.astype(np.float64), reached)
    by_axis = dict(weights)
    found: Strange = {}
    for index in np.argwhere(reached > 0):
        taps = _taps(data, by_axis, tuple(index.tolist()))
        flat = int(np.ravel_multi_index(tuple(index), reached.shape))
        found[flat] = _combine(taps)
    return found


@dataclass(frozen=True)
class Tap:
    """An element that is not finite: its value, the sign of its weight (0 for doubtful), and two doubts.

    `clear` is False where taps of other signs, or doubtful ones, fall on the same element; `possible` where
    the weight may be other than 0 at all.
    """

    value: float
    sign: int
    clear: bool
    possible: bool


def _taps(data: Decoded, weights: dict[int, AxisWeights], index: tuple[int, ...]) -> list[Tap]:
    """The elements that are not finite among an output element's taps, with the sign of their weight."""
    columns = []
    for axis, position in enumerate(index):
        each = weights.get(axis)
        columns.append([position] if each is None else np.flatnonzero(each.touched[position]).tolist())
    found: list[Tap] = []
    for tap in product(*columns):
        if data.finite[tap]:
            continue
        sign, clear, possible = 1, True, True
        for axis, each in weights.items():
            place = index[axis], tap[axis]
            sign *= int(each.sign[place])
            clear &= not each.mixed[place]
            possible &= bool(each.size[place] + abs(each.shared[place]) + each.fresh[place] > 0)
        found.append(Tap(float(data.special[tap]), sign, clear, possible))
    return found


def _combine(taps: list[Tap]) -> tuple[float | None, tuple[float, ...]]:
    definite = [tap.value * tap.sign for tap in taps if tap.sign]
    open_taps = [tap for tap in taps if not tap.sign or not tap.clear]
    if any(math.isnan(each) for each in definite) or {math.inf, -math.inf} <= set(definite):
        return math.nan, ()
    result = definite[0] if definite else None
    others: list[float] = [math.nan] if open_taps else []
    if result is None and any(math.isinf(each.value) and each.possible for each in open_taps):
        others += [math.inf, -math.inf]
    return result, tuple(others)


def _extrapolate(
    rounded: Rounded,
    element_type: ElementType,
    axes: Plans,
    shape: tuple[int, ...],
    method: Method,
    behaviours: Behaviours,
) -> Rounded:
    """Put the extrapolation value where the coordinate of any axis lies outside the tensor.

    Where routes differ in that, the interpolated value stays and the extrapolation value is an alternative.
    Raises UnstableLength where that is a string, for which there is none.
    """
    outside, doubtful = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    for number, axis in enumerate(axes):
        if axis is None or axis.mode != "tf_crop_and_resize":
            continue
        decided = _outside(axis)
        along_axis = [-1 if each == number else 1 for each in range(len(shape))]
        always = np.array([set(each) == {True} for each in decided]).reshape(along_axis)
        ever = np.array([True in each for each in decided]).reshape(along_axis)
        outside, doubtful = outside | always, doubtful | ever
    if not doubtful.any():
        return rounded
    if element_type.kind == "string":
        # Regions of strings lie inside the tensor, for no document converts the value to a string.
        raise UnstableLength("whether a string lies outside the tensor hangs on rounding")
    value = _extrapolation_element(element_type, Fraction(method.extrapolation_value), behaviours)
    elements = rounded.elements.copy()
    allowed = np.where(outside.reshape(-1), 0.0, rounded.allowed)
    elements[outside.reshape(-1)] = value
    gone = set(np.flatnonzero(outside).tolist())
    alternatives = {index: each for index, each in rounded.alternatives.items() if index not in gone}
    for index in np.flatnonzero(doubtful & ~outside).tolist():
        alternatives[index] = (*alternatives.get(index, ()), plain(value))
    return Rounded(elements, allowed, alternatives)


def _outside(axis: CoordinateAxis) -> list[tuple[bool, ...]]:
    """For every position whether routes find its coordinate outside the tensor."""
    last = axis.length_original - 1

    def is_outside(coordinate: Fraction) -> bool:
        return not 0 <= coordinate <= last

    return coordinates(axis).decide(is_outside)


def _extrapolation_element(element_type: ElementType, value: Fraction, behaviours: Behaviours) -> Any:
    if element_type.kind == "bool":
        return np.bool_(value != 0)
    if element_type.kind == "complex":
        real = encode(element_type.component, [value])[0]
        return np.array([complex(real, 0)], dtype=element_type.storage)[0]
    if element_type.is_integer:
        conversion, overflow = behaviours.conversion.ask(), behaviours.overflow.ask()
        fitted = convert(value, conversion, overflow, *element_type.integer_range)
        return np.array([fitted], dtype=element_type.storage)[0]
    return encode(element_type, [value])[0]
