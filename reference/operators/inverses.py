"""Inverse: inverses of square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf, ldexp, prod

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.working import MARGIN, rounded_up
from reference.operators.determinants import Matrix
from reference.registry import reference_operator

_GROWTH = 2.0
"""Other pivots than the greatest of exact arithmetic may let elements grow by so much more."""
_SLACK = 1 + ldexp(1.0, -40)


@reference_operator("com.microsoft::Inverse")
def inverse(X: Numbers) -> Numbers:
    """The inverses of the matrices along the last two axes. Source: Inverse, X.

    Anything where a matrix has none, or is so near to one without that elimination does not tell them
    apart, or has an element that is no number; and where its determinant, or the reciprocal of that, may
    overflow on the way.
    """
    *lead, order = X.shape[:-1]
    flat = X.reshape((prod(lead), order, order))
    value, error = np.zeros(flat.shape, dtype=object), np.zeros(flat.shape)
    doubtful = np.zeros(flat.shape, dtype=np.bool_)
    X.working.note_chain(np.ones(flat.shape, np.bool_))
    ends = X.working.greatest * (1 - MARGIN)
    elements = flat.value.spread(flat.shape).fractions()
    for at in range(flat.shape[0]):
        start = at * order * order
        rows = [elements[start + row * order : start + (row + 1) * order] for row in range(order)]
        found = inverted(rows)
        if found is None or not flat.finite[at].all() or found.may_overflow(ends):
            doubtful[at] = True
            continue
        value[at] = np.array(found.inverse, dtype=object).reshape((order, order))
        X.working.needs_full_functions("inverses are")
        own = float(flat.error[at].max(initial=0.0))
        error[at] = _errors(found.inverse, _size(found.greatest), own, X.working.unit, X.working.least_normal)
    doubtful |= ~np.isfinite(error)
    exact = Numbers.exact(Rationals.of(value), X.working)
    computed = Numbers(
        X.working, exact.value, np.where(doubtful, 0.0, rounded_up(error)), exact.sign, exact.lost
    )
    return opened(computed, doubtful).reshape(X.shape)


@dataclass(frozen=True)
class Inverted:
    """The inverse by elimination, the greatest element on the way, and the determinant's magnitude."""

    inverse: list[list[Fraction]]
    greatest: Fraction
    determinant: Fraction

    def may_overflow(self, ends: float) -> bool:
        """Whether a product of so many elements, or the reciprocal of the determinant, is beyond the ends."""
        order = len(self.inverse)
        product = order * Fraction(max(2 * self.greatest, Fraction(1))) ** order
        return product >= Fraction(ends) or self.determinant * Fraction(ends) < 1


def inverted(matrix: Matrix) -> Inverted | None:
    """The inverse of a matrix; None where there is none."""
    order = len(matrix)
    rows = [[*row, *(Fraction(int(place == at)) for place in range(order))] for at, row in enumerate(matrix)]
    greatest, determinant = max(abs(element) for row in matrix for element in row), Fraction(1)
    for column in range(order):
        pivot = max(range(column, order), key=lambda at: abs(rows[at][column]))
        if not rows[pivot][column]:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        determinant *= abs(rows[column][column])
        for at in range(column + 1, order):
            _reduce(rows[at], rows[column], column)
            greatest = max(greatest, *map(abs, rows[at][:order]))
    for column in reversed(range(order)):
        rows[column] = [element / rows[column][column] for element in rows[column]]
        for at in range(column):
            _reduce(rows[at], rows[column], column)
    return Inverted([row[order:] for row in rows], greatest, determinant)


def _reduce(row: list[Fraction], by: Sequence[Fraction], column: int) -> None:
    """Take a multiple of another row away, so that the element in a column is zero."""
    factor = row[column] / by[column]
    row[:] = [element - factor * other for element, other in zip(row, by, strict=True)]


def _errors(
    found: Sequence[Sequence[Fraction]], greatest: float, own: float, unit: float, least: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """How far elimination with chosen pivots, or cofactors over the determinant, may come to lie off.

    A column x of what elimination gives is that of a matrix whose elements differ by at most
    gamma(3n) |L||U|, each of which is at most n times the greatest element on the way (docs/why-believe.md),
    so that the element in row i and column j is off by at most that times the sums of magnitudes of row i and
    of column j of the inverse. Infinite where that may not be small beside the inverse.
    """
    order = len(found)
    sizes = np.array([[_size(element) for element in row] for row in found]).reshape(order, order)
    grown = _GROWTH * greatest
    gamma = 3 * order * unit / (1 - 3 * order * unit)
    apart = gamma * order * grown + own + order * least
    with np.errstate(over="ignore"):
        rows = np.array([[fsum(row)] for row in sizes.tolist()])
        columns = np.array([[fsum(column) for column in sizes.transpose().tolist()]])
    shift = order * apart * float(sizes.max(initial=0.0))
    if not shift * order < 0.25:
        return np.full(sizes.shape, np.inf)
    return np.asarray((apart * rows * columns / (1 - 2 * shift * order) + 2 * unit * sizes) * _SLACK + least)


def _size(number: Fraction) -> float:
    """The magnitude; infinite where it is beyond all doubles."""
    try:
        return abs(float(number))
    except OverflowError:
        return inf
