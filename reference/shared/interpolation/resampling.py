"""Resampling a tensor along its axes: by nearest elements, or by weighted sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.rounding import NOT_FINITE, Rounded, round_floats, round_integers, working_layout
from reference.numbers.estimates import Mask
from reference.numbers.numbers import decode, encode, layout_of, smallest_normal
from reference.shared.interpolation.axis_weights import Kernel, axis_weights
from reference.shared.interpolation.coordinates import CoordinateAxis
from reference.shared.interpolation.extrapolation import extrapolate
from reference.shared.interpolation.methods import Arithmetic, Behaviours, Method, Plans
from reference.shared.interpolation.nearest import move, pixels, plain
from reference.shared.interpolation.special import outcomes
from reference.shared.movement import moved
from reference.sums.overflow import overflowing
from reference.sums.sums import Sums, weighted_sums
from reference.sums.weights import AxisWeights

DIRECT_AXES = 3
"""Summing all taps in one sum is a listed route up to so many axes; nobody does it beyond."""


def resample(X: Tensor, axes: Plans, method: Method, behaviours: Behaviours) -> Answer:
    """X resampled along the axes that are given (None: left as it is)."""
    arithmetic = _ask(X.element_type, axes, method, behaviours)
    answer = _resample(X, axes, method, arithmetic)
    if method.kernel is None:
        return moved(answer.expected, behaviours.subnormals, behaviours.negative_zeros, answer.alternatives)
    return answer


def _ask(element_type: ElementType, axes: Plans, method: Method, behaviours: Behaviours) -> Arithmetic:
    """The arithmetic of a call, as far as its answer depends on it."""
    kernel = method.kernel
    if element_type.is_integer:
        cropped = any(axis is not None and axis.mode == "tf_crop_and_resize" for axis in axes)
        if kernel is None and not cropped:
            return Arithmetic()
        conversion, overflow = behaviours.conversion.ask(), behaviours.overflow.ask()
        # Filters go axis after axis. Nobody truncates or wraps between two, which would shift every mean.
        filtered = kernel is not None and kernel.antialias
        nearest = conversion.startswith("half") and overflow == "saturate"
        steps = behaviours.integer_steps.ask() if filtered and nearest else "once"
        return Arithmetic(conversion, overflow, steps)
    if kernel is None or not element_type.component.is_float:
        return Arithmetic()
    unlisted = behaviours.unlisted_axes.ask() if None in axes else "untouched"
    return Arithmetic(flush=behaviours.subnormals.ask() == "flushed", unlisted_axes=unlisted)


@lru_cache(maxsize=1024)
def _resample(X: Tensor, axes: Plans, method: Method, arithmetic: Arithmetic) -> Answer:
    shape = tuple(
        extent if axis is None else axis.length_resized for extent, axis in zip(X.shape, axes, strict=True)
    )
    if 0 in shape:
        empty = Tensor(X.element_type, np.empty(shape, dtype=X.element_type.storage))
        return Answer(empty, None if method.kernel is None else np.zeros(shape))
    if method.kernel is None:
        rounded = extrapolate(_nearest(X, axes, method), X.element_type, axes, shape, method, arithmetic)
        elements = Tensor(X.element_type, rounded.elements.reshape(shape))
        return Answer(elements, None, rounded.alternatives or None)
    if X.element_type.kind == "complex":
        rounded = _by_component(X, axes, method.kernel, arithmetic)
    else:
        rounded = _weighted(X, axes, method.kernel, arithmetic)
    rounded = extrapolate(rounded, X.element_type, axes, shape, method, arithmetic)
    elements = Tensor(X.element_type, rounded.elements.reshape(shape))
    return Answer(elements, rounded.allowed.reshape(shape), rounded.alternatives or None)


def _nearest(X: Tensor, axes: Sequence[CoordinateAxis | None], method: Method) -> Rounded:
    chosen = [
        tuple((position,) for position in range(extent)) if axis is None else pixels(axis, method.rule)
        for extent, axis in zip(X.shape, axes, strict=True)
    ]
    return _moved(X, tuple(chosen))


@lru_cache(maxsize=256)
def _moved(X: Tensor, chosen: tuple[tuple[tuple[int, ...], ...], ...]) -> Rounded:
    # Many combinations of readings choose the same pixels.
    return move(X.array, chosen)


def _weighted(
    X: Tensor, axes: tuple[CoordinateAxis | None, ...], kernel: Kernel, arithmetic: Arithmetic
) -> Rounded:
    if X.element_type.is_integer:
        return _integers(X, axes, kernel, arithmetic)
    flush = arithmetic.flush
    if arithmetic.unlisted_axes == "weighed":
        axes = tuple(
            _unresized(extent) if axis is None else axis for extent, axis in zip(X.shape, axes, strict=True)
        )
    sums, strange, overflow = _sums(X, axes, kernel, flush)
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


def _unresized(extent: int) -> CoordinateAxis:
    return CoordinateAxis("asymmetric", extent, extent, (Fraction(1), 1))


def _integers(
    X: Tensor, axes: tuple[CoordinateAxis | None, ...], kernel: Kernel, arithmetic: Arithmetic
) -> Rounded:
    """Means of integers, which become integers at the end or after each axis."""
    chosen = (arithmetic.conversion, arithmetic.overflow)
    moving = [number for number, each in _weights(axes, kernel) if not each.is_identity]
    if arithmetic.integer_steps == "once" or len(moving) < 2:
        sums, _, _ = _sums(X, axes, kernel, False)
        return round_integers(X.element_type, sums, *chosen)
    backwards = arithmetic.integer_steps == "from_last_axis"
    doubt = np.zeros(X.array.size)
    for number in sorted(moving, reverse=backwards):
        axis = axes[number]
        assert axis is not None
        sums = _step(X, doubt.tobytes(), number, axis, kernel)
        rounded = round_integers(X.element_type, sums, *chosen)
        X = Tensor(X.element_type, rounded.elements.reshape(sums.error.shape))
        doubt = rounded.spread
    return rounded


@lru_cache(maxsize=64)
def _step(X: Tensor, doubt: bytes, number: int, axis: CoordinateAxis, kernel: Kernel) -> Sums:
    """The mean along one axis of integers that a program may hold so far (float64, as bytes) from others."""
    weights = [(number, axis_weights(axis, kernel))]
    direct = 0 if kernel.antialias else 1
    off = np.frombuffer(doubt, dtype=np.float64).reshape(X.shape)
    data, working = decode(X.element_type, X.array), working_layout(X.element_type)
    return weighted_sums(data, weights, working, direct=direct, flush=False, doubt=off)


def _weights(axes: Sequence[CoordinateAxis | None], kernel: Kernel) -> list[tuple[int, AxisWeights]]:
    return [(number, axis_weights(axis, kernel)) for number, axis in enumerate(axes) if axis is not None]


Strange = dict[int, tuple[float | None, tuple[float, ...]]]


@lru_cache(maxsize=16)
def _sums(
    X: Tensor, axes: tuple[CoordinateAxis | None, ...], kernel: Kernel, flush: bool
) -> tuple[Sums, Strange, Mask | None]:
    weights = _weights(axes, kernel)
    resized = [(number, each) for number, each in weights if not each.is_identity]
    data = decode(X.element_type, X.array)
    working = working_layout(X.element_type)
    sensitive = flush and _is_small(X.element_type, X.array)
    if sensitive:
        least = smallest_normal(layout_of(X.element_type)) / data.scale
        kept = np.where(np.abs(data.integers) < least, 0, data.integers)
        data = replace(data, integers=np.asarray(kept, dtype=object))
    direct = DIRECT_AXES if not kernel.antialias and len(resized) <= DIRECT_AXES else 0
    sums = weighted_sums(data, resized, working, direct=direct, flush=sensitive)
    return sums, outcomes(data, weights), overflowing(data, weights, working)


def _is_small(element_type: ElementType, array: NDArray[Any]) -> bool:
    """Whether products of the elements with interpolation weights may be subnormal."""
    layout = layout_of(element_type)
    data = decode(element_type, array)
    bound = smallest_normal(layout) * 2**24 / data.scale
    return any(0 < abs(each) < bound for each in data.integers.flat)


def _by_component(
    X: Tensor, axes: tuple[CoordinateAxis | None, ...], kernel: Kernel, arithmetic: Arithmetic
) -> Rounded:
    """Real and imaginary parts apart; the greater of their allowed errors holds for both.

    Where one part may be something else, so may the element, with whatever the other part may be.
    """
    component = X.element_type.component
    real = _weighted(Tensor(component, X.array.real), axes, kernel, arithmetic)
    imaginary = _weighted(Tensor(component, X.array.imag), axes, kernel, arithmetic)
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
