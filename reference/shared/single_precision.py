"""Operators that answer in float whatever they are given, and whose attributes are floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import Working

SINGLE = ELEMENT_TYPES["float"]


def in_single_precision(numbers: Numbers) -> Numbers:
    """Numbers of any type in the arithmetic of floats: what is no float is rounded, now or at the end."""
    if numbers.working.element_type == SINGLE:
        return numbers
    working = replace(numbers.working, element_type=SINGLE)
    beyond = numbers.finite & (np.abs(numbers.value.floats()) >= working.greatest)
    held = opened(replace(numbers, working=working), beyond) if beyond.any() else numbers
    return replace(held, working=working).rounded(1, exact=True, least=1)


def finite_number(given: float) -> Fraction:
    """A number as it is; raises OutsideDomain where it is NaN or infinite."""
    if not np.isfinite(given):
        raise OutsideDomain("an attribute of which the reference asks for a finite number", got=str(given))
    return Fraction(float(given))


def held_float(given: float) -> Fraction:
    """The number that an attribute of a float holds; raises OutsideDomain where it is NaN or infinite."""
    return finite_number(float(np.float32(given)))


def held_floats(given: Sequence[float]) -> list[Fraction]:
    """The numbers that an attribute of floats holds; raises OutsideDomain where one is NaN or infinite."""
    return [held_float(each) for each in given]


def special_floats(given: float | Sequence[float], working: Working | None) -> Numbers:
    """What an attribute of floats holds of which some are NaN or infinite."""
    return Numbers.of(Tensor(SINGLE, np.array(given, np.float32)), working)


def constants(given: Sequence[float], beside: Numbers) -> Numbers:
    """The numbers of an attribute of floats, in the arithmetic of others."""
    if not np.isfinite(given).all():
        return special_floats(given, beside.working)
    return Numbers.exact(held_floats(given), beside.working)
