"""The reference without its bounds: the same values, several times as fast, and no allowed errors.

A mutant is judged by its values alone; what may be allowed around them stands in the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

import reference.estimates
import reference.interpolation.coordinates
import reference.interpolation.kernels
import reference.sums
from reference.estimates import Estimate, Floats, Mask
from reference.interpolation.routes import Route
from reference.rationals import Rationals


@contextmanager
def values_only() -> Iterator[None]:
    """Take every number for exact, and look at no route; answers computed meanwhile allow no error.

    Whoever uses it empties the caches of the reference before and after.
    """
    with _exchanged(_QUICK):
        yield


@contextmanager
def with_bounds() -> Iterator[None]:
    """Within `values_only`, the reference as it is; the caches must be emptied around it, too."""
    with _exchanged(_WHOLE):
        yield


@contextmanager
def _exchanged(values: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, value in values:
            stack.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, value)
        yield


def _plain(value: Rationals, like: Estimate) -> Estimate:
    nothing = np.zeros(value.shape)
    return Estimate(value, nothing, nothing, like.layout)


def _lifted(other: Estimate | int | Fraction, like: Estimate) -> Estimate:
    return other if isinstance(other, Estimate) else Estimate.exact(other, like.layout)


def _absolute(like: Estimate) -> Estimate:
    return _plain(abs(like.value), like)


def _sum(like: Estimate, other: Estimate | int | Fraction) -> Estimate:
    return _plain(like.value + _lifted(other, like).value, like)


def _product(like: Estimate, other: Estimate | int | Fraction) -> Estimate:
    return _plain(like.value * _lifted(other, like).value, like)


def _quotient(like: Estimate, other: Estimate | int | Fraction) -> Estimate:
    return _plain(like.value / _lifted(other, like).value, like)


def _total(like: Estimate, axis: int) -> Estimate:
    return _plain(like.value.total(axis), like)


def _pieces(pieces: Sequence[tuple[Mask, Mask, Estimate]]) -> Estimate:
    layout = pieces[0][2].layout
    shape = np.broadcast_shapes(*(each[2].value.shape for each in pieces))
    result = Estimate.exact(np.zeros(shape, dtype=object), layout)
    for inside, _, piece in pieces:
        result = piece.where(np.broadcast_to(inside, shape), result)
    return result


def _no_routes() -> Iterator[Route]:
    return iter(())


def _no_bound(
    _data: Any, _weights: Any, _layout: Any, shape: tuple[int, ...], _doubt: Any, **_: Any
) -> Floats:
    return np.zeros(shape)


_QUICK: tuple[tuple[Any, str, Any], ...] = (
    (reference.estimates.Estimate, "__abs__", _absolute),
    (reference.estimates.Estimate, "__add__", _sum),
    (reference.estimates.Estimate, "__mul__", _product),
    (reference.estimates.Estimate, "__truediv__", _quotient),
    (reference.estimates.Estimate, "divide_once", _quotient),
    (reference.estimates.Estimate, "total", _total),
    (reference.interpolation.kernels, "hull", _pieces),
    (reference.interpolation.coordinates, "routes", _no_routes),
    (reference.sums, "_bound", _no_bound),
)
_WHOLE = tuple((owner, name, vars(owner)[name]) for owner, name, _ in _QUICK)
