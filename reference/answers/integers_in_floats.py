"""Integers as float32 holds them, where a text computes with floats and does not say of which type."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers.rounding import convert
from reference.numbers.nearest_floats import nearest_floats
from reference.numbers.rationals import Rationals
from reference.readings.choices import Choice

FLOAT = ELEMENT_TYPES["float"]


def held(given: Tensor, between: Choice[str], overflow: Choice[str]) -> Tensor:
    """A tensor of integers whose elements pass through float32, where `between` is asked and says so.

    Nothing is asked of elements that float32 holds, or of those of other types; `overflow` only where one is
    rounded beyond its type.
    """
    if not given.element_type.is_integer:
        return given
    whole = [int(each) for each in given.array.flat]
    floats = nearest_floats(FLOAT, Rationals.of(np.array(whole, dtype=object))).results.tolist()
    if whole == floats or between.ask() == "exact":
        return given
    low, high = given.element_type.integer_range
    beyond = any(not low <= each <= high for each in floats)
    how = overflow.ask() if beyond else "wrap"
    numbers = [convert(Fraction(each), "truncate", how, low, high) for each in floats]
    return Tensor(given.element_type, np.array(numbers, given.array.dtype).reshape(given.array.shape))
