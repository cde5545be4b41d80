"""The greatest and the least of Numbers along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from reference.answers.orders import NanInMaxMin, greater_of, lesser_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import Mask, Working
from reference.readings.choices import Choice
from reference.sums.summation import last_axis

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
    nans = np.asarray(np.isnan(flat.sign).any(axis=-1))
    one_by_one = hangs_on_order(nans, nan)
    found = in_order(
        flat, flat.shape[-1], lambda left, right: choose(left, right, nan), one_by_one=one_by_one
    )
    return beside_nan(found.arranged(itemgetter((..., 0))), nans, nan).reshape(shape)


def hangs_on_order(nans: Mask, nan: Choice[NanInMaxMin]) -> bool:
    """Whether it matters which two of several are compared first: where NaN keeps one of two operands."""
    return bool(nans.any()) and nan.ask() in ("first_operand", "second_operand")


class Selectable(Protocol):
    """Several things on a last axis, of which those at some places can be taken."""

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Self: ...


Members = TypeVar("Members", bound=Selectable)


def in_order(
    row: Members, length: int, join: Callable[[Members, Members], Members], *, one_by_one: bool
) -> Members:
    """What the members of a row come to, each joined with those before it; on a last axis of length 1.

    Unless it has to be `one_by_one`, neighbours are joined, then these with each other: the same comes out
    of fewer and longer operations wherever joining is associative.
    """
    width = 1 if one_by_one else 1 << (length.bit_length() - 1)
    found, start = None, 0
    while start < length:
        while start + width > length:
            width //= 2
        part = row.arranged(itemgetter((..., slice(start, start + width))))
        for step in range(width.bit_length() - 1):
            pairs = width >> step
            even, odd = slice(0, pairs, 2), slice(1, pairs, 2)
            part = join(part.arranged(itemgetter((..., even))), part.arranged(itemgetter((..., odd))))
        found = part if found is None else join(found, part)
        start += width
    assert found is not None, "a row has a member"
    return found


def beside_nan(found: Numbers, nans: Mask, nan: Choice[NanInMaxMin]) -> Numbers:
    """The greatest or least of several, with what becomes of it where NaN is among them.

    Where comparisons keep one of their two operands the result hangs on their order, which no document names:
    it may be any element behind a NaN, or what the search began with.
    """
    return opened(found, nans) if nans.any() and nan.ask() == "first_operand" else found
