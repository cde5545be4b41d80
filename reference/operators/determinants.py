"""Det: determinants of square matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from math import prod

import numpy as np

from reference.number_arrays import Numbers
from reference.passing import opened
from reference.rationals import Rationals
from reference.registry import reference_operator
from reference.working import MARGIN, Working, rounded_up


@reference_operator("ai.onnx::Det")
def determinant(X: Numbers) -> Numbers:
    """The determinants of the matrices along the last two axes. Source: Det, Summary.

    Anything where a matrix has an element that is no number: no text says how the determinant is computed.
    """
    *lead, _, order = X.shape
    size, count = order * order, prod(lead)
    elements = X.value.spread(X.shape).fractions()
    matrices = [elements[at * size : (at + 1) * size] for at in range(count)]
    value = Rationals.of(np.array([_eliminated(each, order) for each in matrices], dtype=object))
    found = Numbers.exact(value, X.working)
    flat = X.reshape((count, size))
    if order == 1:
        return flat.reshape(tuple(lead))
    if order:
        found = _computed(found, flat, order)
    return found.reshape(tuple(lead))


def _computed(found: Numbers, flat: Numbers, order: int) -> Numbers:
    """With what elimination may err by, and anything where an element is no number, or one on the way."""
    working = flat.working
    working.note_chain(np.ones(found.shape, np.bool_))
    error, lost = np.zeros(found.shape), np.zeros(found.shape, np.bool_)
    ends = working.greatest * (1 - MARGIN)
    for at, sizes in enumerate(flat.magnitude.tolist()):
        error[at] = _error(sizes, max(flat.error[at].tolist()), order, working)
        product = float(order)
        for _ in range(order):
            product *= _grown(sizes, order)
        lost[at] = product >= ends
    computed = Numbers(working, found.value, rounded_up(error), found.sign, lost)
    return opened(computed, np.asarray(~flat.finite.all(axis=1)))


def _eliminated(elements: Sequence[Fraction], order: int) -> Fraction:
    """The determinant by elimination in exact arithmetic."""
    rows = [list(elements[at * order : (at + 1) * order]) for at in range(order)]
    found = Fraction(1)
    for column in range(order):
        pivot = next((at for at in range(column, order) if rows[at][column]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != column:
            rows[column], rows[pivot] = rows[pivot], rows[column]
            found = -found
        first = rows[column]
        found *= first[column]
        for row in rows[column + 1 :]:
            factor = row[column] / first[column]
            row[column:] = [
                each - factor * other for each, other in zip(row[column:], first[column:], strict=True)
            ]
    return found


def _grown(sizes: Sequence[float], order: int) -> float:
    """What no element of a matrix is beyond on the way, with pivots chosen; 1 at least."""
    return max(max(sizes) * float(1 << (order - 1)) * (1 + math.ldexp(1.0, -10)), 1.0)


def _error(sizes: Sequence[float], own: float, order: int, working: Working) -> float:
    """How far elimination with chosen pivots, or expansion by rows, may come to lie from the determinant.

    `own` is the error of the elements themselves. Elimination gives the determinant of a matrix whose
    elements differ by at most gamma(n) |L||U| (docs/bounds.md), and a difference of elements changes it by no
    more than the product of the sums of rows grows.
    """
    grown = _grown(sizes, order)
    steps = order * (order + 1) * working.unit
    gamma = steps / (1 - steps)
    apart = gamma * order * grown + order * working.least_normal + own
    plain = moved = powers = 1.0
    for row in range(order):
        size = 0.0
        for each in sizes[row * order : (row + 1) * order]:
            size += each
        plain, moved, powers = plain * size, moved * (size + order * apart), powers * grown
    # The products are of few numbers, each rounded: far less than this share of them.
    share = math.ldexp(1.0, -45)
    error = moved - plain + share * moved + gamma * moved + order * working.least_normal * powers
    return math.inf if math.isnan(error) else error * (1 + share)
