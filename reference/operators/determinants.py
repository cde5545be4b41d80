"""Det: determinants of square matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import MARGIN, Working, rounded_up
from reference.registry import reference_operator

Matrix = Sequence[Sequence[Fraction]]
_PIVOTS = 2.0
"""Other pivots than the greatest of exact arithmetic may let elements grow by so much more."""
_FEW = 6
"""Up to this order the determinants of what is left without a row and a column are worked out one by one."""


@reference_operator("ai.onnx::Det")
def determinant(X: Numbers) -> Numbers:
    """The determinants of the matrices along the last two axes. Source: Det, Summary.

    Anything where a matrix has an element that is no number: no text says how the determinant is computed.
    """
    *lead, _, order = X.shape
    size, count = order * order, prod(lead)
    elements = X.value.spread(X.shape).fractions()
    matrices = [
        [elements[at + row * order : at + (row + 1) * order] for row in range(order)]
        for at in range(0, count * size, max(size, 1))
    ] or [[] for _ in range(count)]
    eliminated = [_eliminated(each) for each in matrices]
    value = Rationals.of(np.array([each.determinant for each in eliminated], dtype=object))
    found = Numbers.exact(value, X.working)
    flat = X.reshape((count, size))
    if order == 1:
        return flat.reshape(tuple(lead))
    if matrices and order:
        found = _computed(found, flat, matrices, eliminated)
    return found.reshape(tuple(lead))


def _computed(
    found: Numbers, flat: Numbers, matrices: Sequence[Matrix], eliminated: Sequence[_Eliminated]
) -> Numbers:
    """With what elimination may err by, and anything where an element is no number, or one on the way."""
    working, order = flat.working, len(matrices[0])
    working.note_chain(np.ones(found.shape, np.bool_))
    error, lost = np.zeros(found.shape), np.zeros(found.shape, np.bool_)
    ends = working.greatest * (1 - MARGIN)
    for at, sizes in enumerate(flat.magnitude.tolist()):
        error[at] = _error(sizes, matrices[at], eliminated[at], max(flat.error[at].tolist()), working)
        product = float(order)
        for _ in range(order):
            product *= _grown(sizes, order)
        # By the reciprocals of pivots programs divide; of the smallest these are infinite.
        lost[at] = product >= ends or eliminated[at].least * Fraction(ends) < 1
    computed = Numbers(working, found.value, rounded_up(error), found.sign, lost)
    return opened(computed, np.asarray(~flat.finite.all(axis=1)))


@dataclass(frozen=True)
class _Eliminated:
    """The determinant by elimination in exact arithmetic, the greatest element and the least pivot."""

    determinant: Fraction
    greatest: Fraction
    least: Fraction


def _eliminated(matrix: Matrix) -> _Eliminated:
    """With the greatest element of each column as the pivot."""
    rows = [list(row) for row in matrix]
    order, found, least = len(rows), Fraction(1), Fraction(1)
    greatest = max((abs(each) for row in rows for each in row), default=Fraction(0))
    for column in range(order):
        pivot = max(range(column, order), key=lambda at: abs(rows[at][column]))
        if not rows[pivot][column]:
            return _Eliminated(Fraction(0), greatest, least)
        if pivot != column:
            rows[column], rows[pivot] = rows[pivot], rows[column]
            found = -found
        first = rows[column]
        least = min(least, abs(first[column]))
        found *= first[column]
        for row in rows[column + 1 :]:
            factor = row[column] / first[column]
            row[column:] = [
                each - factor * other for each, other in zip(row[column:], first[column:], strict=True)
            ]
            greatest = max(greatest, *map(abs, row[column:]))
    return _Eliminated(found, greatest, least)


def _minors(matrix: Matrix) -> Fraction | None:
    """The sum of the magnitudes of all determinants without a row and a column; None of greater orders."""
    if len(matrix) > _FEW:
        return None
    places = range(len(matrix))
    return sum(
        (
            abs(
                _eliminated(
                    [[*row[:column], *row[column + 1 :]] for at, row in enumerate(matrix) if at != left_out]
                ).determinant
            )
            for left_out in places
            for column in places
        ),
        Fraction(0),
    )


def _grown(sizes: Sequence[float], order: int) -> float:
    """What no element of a matrix is beyond on the way, with pivots chosen; 1 at least."""
    return max(max(sizes) * float(1 << (order - 1)) * (1 + math.ldexp(1.0, -10)), 1.0)


def _error(sizes: Sequence[float], matrix: Matrix, found: _Eliminated, own: float, working: Working) -> float:
    """How far elimination with chosen pivots, or expansion by rows, may come to lie from the determinant.

    `own` is the error of the elements themselves. Elimination gives the determinant of a matrix whose
    elements differ by at most gamma(n) |L||U| (docs/why-believe.md). A difference of one element changes it
    by so many times the determinant without its row and column; those of several elements by no more than the
    product of the sums of rows grows beyond that.
    """
    working.needs_full_functions("determinants are")
    order = len(matrix)
    minors = _minors(matrix)
    grown = max(min(_PIVOTS * _size(found.greatest), _grown(sizes, order)), max(sizes))
    steps = order * (order + 1) * working.unit
    gamma, own_gamma = steps / (1 - steps), (order + 2) * working.unit * (1 + steps)
    apart = (gamma if minors is None else own_gamma) * order * grown + order * working.least_normal + own
    plain = moved = powers = 1.0
    linear = 0.0
    for row in range(order):
        size = 0.0
        for each in sizes[row * order : (row + 1) * order]:
            size += each
        linear = linear * size + plain * order * apart
        plain, moved, powers = plain * size, moved * (size + order * apart), powers * max(grown, 1.0)
    # The products are of few numbers, each rounded: far less than this share of them.
    share = math.ldexp(1.0, -45)
    error = moved - plain + share * moved
    if minors is not None:
        error = max(moved - plain - linear, 0.0) + share * moved + _size(minors) * apart * (1 + share)
    whole = _size(found.determinant) + error
    by_elimination = error + order * working.unit * (1 + steps) * whole
    by_expansion = gamma * _permanent(sizes, order) * (1 + share)
    error = max(by_elimination, by_expansion) + order * working.least_normal * powers
    return math.inf if math.isnan(error + by_expansion) else error * (1 + share)


def _size(number: Fraction) -> float:
    """The magnitude; infinite where it is beyond all doubles."""
    try:
        return abs(float(number))
    except OverflowError:
        return math.inf


def _permanent(sizes: Sequence[float], order: int) -> float:
    """The sum of all products of one element of each row and column, or at least that."""
    if order > _FEW:
        product = 1.0
        for row in range(order):
            product *= math.fsum(sizes[row * order : (row + 1) * order])
        return product
    sums = {0: 1.0}
    for row in range(order):
        longer: dict[int, float] = {}
        for taken, product in sums.items():
            for column in range(order):
                if not taken >> column & 1:
                    more = product * sizes[row * order + column]
                    longer[taken | 1 << column] = longer.get(taken | 1 << column, 0.0) + more
        sums = longer
    return sums[(1 << order) - 1]
