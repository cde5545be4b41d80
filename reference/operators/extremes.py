"""Max, Min, Clip and Relu: the greater and the lesser of numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BINARY32
from reference.answers.orders import NanReading, greater_of, lesser_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.numbers import largest
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator


@reference_operator("ai.onnx::Max")
def greatest(data_0: tuple[Numbers, ...], *, nan_in_max_min: NanReading) -> Numbers:
    """The greatest of the tensors' elements, broadcast against each other. Source: Max, Summary."""
    return reduce(lambda left, right: greater_of(left, right, nan_in_max_min), data_0)


@reference_operator("ai.onnx::Min")
def least(data_0: tuple[Numbers, ...], *, nan_in_max_min: NanReading) -> Numbers:
    """The least of the tensors' elements, broadcast against each other. Source: Min, Summary."""
    return reduce(lambda left, right: lesser_of(left, right, nan_in_max_min), data_0)


@reference_operator("ai.onnx::Clip")
def clip(
    input: Numbers,
    min: Numbers | Fraction | None = None,
    max: Numbers | Fraction | None = None,
    *,
    version: int,
    nan_in_max_min: NanReading,
    absent_bounds: Annotated[Choice[Literal["numbers", "none"]], AsReading],
) -> Numbers:
    """Min(max, Max(input, min)); without bounds the least and the greatest number of the type.

    By the operator's function body nothing bounds where no bound is given, so that infinities stay. Before
    version 11 they are attributes, and their defaults those of float32. Source: Clip-13, Summary.
    """
    low, high = input.working.range
    if version < 11:
        low, high = -largest(BINARY32), largest(BINARY32)
    endless = (min is None and input.sign == -np.inf) | (max is None and input.sign == np.inf)
    unbounded = version >= 12 and bool(np.any(endless)) and absent_bounds.ask() == "none"
    found = input
    if min is not None or not unbounded:
        found = greater_of(found, input.lift(low if min is None else min), nan_in_max_min)
    if max is not None or not unbounded:
        found = lesser_of(found, input.lift(high if max is None else max), nan_in_max_min)
    return found


@reference_operator("ai.onnx::Relu")
def rectified(X: Numbers, *, nan_in_max_min: NanReading) -> Numbers:
    """y = max(0, x). Source: Relu, Summary."""
    return greater_of(X, X.lift(0), nan_in_max_min)
