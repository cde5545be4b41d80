"""Elements whose coordinate lies outside the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import ElementType
from reference.answers import UnstableLength
from reference.answers.rounding import Rounded, convert
from reference.numbers.numbers import encode
from reference.shared.interpolation.coordinates import CoordinateAxis, coordinates
from reference.shared.interpolation.methods import Arithmetic, Method
from reference.shared.interpolation.nearest import plain


def extrapolate(
    rounded: Rounded,
    element_type: ElementType,
    axes: Sequence[CoordinateAxis | None],
    shape: tuple[int, ...],
    method: Method,
    arithmetic: Arithmetic,
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
    value = _extrapolation_element(element_type, method.extrapolation_value, arithmetic)
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


def _extrapolation_element(element_type: ElementType, value: Fraction, arithmetic: Arithmetic) -> Any:
    if element_type.kind == "bool":
        return np.bool_(value != 0)
    if element_type.kind == "complex":
        real = encode(element_type.component, [value])[0]
        return np.array([complex(real, 0)], dtype=element_type.storage)[0]
    if element_type.is_integer:
        fitted = convert(value, arithmetic.conversion, arithmetic.overflow, *element_type.integer_range)
        return np.array([fitted], dtype=element_type.storage)[0]
    return encode(element_type, [value])[0]
