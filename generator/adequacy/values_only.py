"""The reference without its bounds: the same values, several times as fast, and no allowed errors.

A mutant is judged by its values alone; what may be allowed around them stands in the case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

import reference.estimates
import reference.interpolation.coordinates
import reference.sums
from reference.estimates import Estimate, Floats, Mask
from reference.interpolation.routes import Route
from reference.rationals import Rationals

_WHOLE: tuple[tuple[Any, str, Any], ...] = (
    (reference.estimates.Estimate, "_round", vars(reference.estimates.Estimate)["_round"]),
    (reference.interpolation.coordinates, "routes", vars(reference.interpolation.coordinates)["routes"]),
    (reference.sums, "_bound", vars(reference.sums)["_bound"]),
)


@contextmanager
def values_only() -> Iterator[None]:
    """Take every number for exact, and look at no route; answers computed meanwhile allow no error.

    Whoever uses it empties the caches of the reference before and after.
    """
    with ExitStack() as stack:
        for (owner, name, _), value in zip(_WHOLE, (_unrounded, _no_routes, _no_bound), strict=True):
            stack.enter_context(replaced(owner, name, value))
        yield


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute of a class or module has another value for a while."""
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def with_bounds() -> Iterator[None]:
    """Within `values_only`, the reference as it is; the caches must be emptied around it, too."""
    with ExitStack() as stack:
        for owner, name, value in _WHOLE:
            stack.enter_context(replaced(owner, name, value))
        yield


def _unrounded(
    like: Estimate,
    value: Rationals,
    _shared: Floats,
    _fresh: Floats,
    _roundings: int,
    _operands_exact: Mask,
    _free: Mask | None,
    **_counts: int,
) -> Estimate:
    nothing = np.zeros(value.shape)
    return Estimate(value, nothing, nothing, like.layout)


def _no_routes() -> Iterator[Route]:
    return iter(())


def _no_bound(
    _data: Any, _weights: Any, _layout: Any, shape: tuple[int, ...], **_options: Any
) -> tuple[Floats, Floats]:
    return np.zeros(shape), np.zeros(shape)
