"""The greatest and the least of Numbers along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np

from reference.choices import Choice
from reference.number_arrays import Numbers
from reference.orders import NanInMaxMin, greater_of, lesser_of
from reference.passing import opened
from reference.summation import last_axis
from reference.working import Mask, Working

Chosen = Callable[[Numbers, Numbers, Choice[NanInMaxMin]], Numbers]


def greatest(
    numbers: Numbers, axes: int | Sequence[int], nan: Choice[NanInMaxMin], *, keepdims: bool = False
) -> Numbers:
    """The greatest along axes; of none -infinity, or the least number of a type without infinities."""
    return _chosen(numbers, axes, nan, greater_of, first_of(numbers.working, -1), keepdims)


def least(
    numbers: Numbers, axes: int | Sequence[int], nan: Choice[NanInMaxMin], *, keepdims: bool = False
) -> Numbers:
    """The least along axes; of none infinity, or the greatest number of a type without infinities."""
    return _chosen(numbers, axes, nan, lesser_of, first_of(numbers.working, 1), keepdims)


def first_of(working: Working, side: int) -> Numbers:
    """What is below (side -1) or above (side 1) everything else: an infinity, or an end of the type."""
    if working.is_float:
        return replace(Numbers.exact(0, working), sign=np.array(side * math.inf))
    ends = (0, 1) if working.element_type.kind == "bool" else working.element_type.integer_range
    return Numbers.exact(ends[side > 0], working)


def _chosen(
    numbers: Numbers,
    axes: int | Sequence[int],
    nan: Choice[NanInMaxMin],
    choose: Chosen,
    of_none: Numbers,
    keepdims: bool,
) -> Numbers:
    flat, shape = last_axis(numbers, axes, keepdims=keepdims)
    if not flat.shape[-1]:
        return of_none.broadcast(shape)
    found = flat.arranged(itemgetter((..., 0)))
    for place in range(1, flat.shape[-1]):
        found = choose(found, flat.arranged(itemgetter((..., place))), nan)
    return beside_nan(found, np.asarray(np.isnan(flat.sign).any(axis=-1)), nan).reshape(shape)


def beside_nan(found: Numbers, nans: Mask, nan: Choice[NanInMaxMin]) -> Numbers:
    """The greatest or least of several, with what becomes of it where NaN is among them.

    Where comparisons keep one of their two operands the result hangs on their order, which no document names:
    it may be any element behind a NaN, or what the search began with.
    """
    return opened(found, nans) if nans.any() and nan.ask() == "first_operand" else found
