"""What weighted sums err by where they are taken axis after axis, and not as one sum of products."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Mask, rounded_up


def by_steps(sums: Numbers, taken: Numbers, rank: int, uneven: Mask) -> Numbers:
    """With what a difference of two elements, its share and the sum err by, on each axis, where they do.

    Where one element is weighed several times its 2^rank products err by no more.
    """
    most = np.max(taken.magnitude, axis=-1, initial=0.0)
    more = 5 * rank * sums.working.unit * most
    return replace(sums, error=np.where(uneven, rounded_up(sums.error + more), 0.0))


def by_axes(sums: Numbers, taken: Numbers, weights: Numbers, rank: int, uneven: Mask) -> Numbers:
    """With a product on each axis after the first, where a product of weights may be exact."""
    sizes = np.abs(weights.value.spread(weights.shape).floats())
    products = taken.magnitude * sizes
    terms = reduce(np.add, np.moveaxis(products, -1, 0), np.zeros(products.shape[:-1]))
    more = (rank - 1) * sums.working.unit * terms
    return replace(sums, error=np.where(uneven, rounded_up(sums.error + more), 0.0))


def uneven_by_axes(taken: Numbers, weights: Numbers) -> Mask:
    """Where means axis after axis may round, be their sum of products exact or not.

    They do not where an element alone has weight, and where the last digit of any share of any element,
    below what all elements have in common, fits below four times the greatest one: no difference of two, and
    no cubic mean of up to three axes, is greater.
    """
    values, working = taken.value.spread(taken.shape), taken.working
    share = np.min(weights.value.spread(weights.shape).last_digits(), axis=-1)
    last = share + np.min(values.last_digits(), axis=-1, initial=np.inf)
    most = np.max(taken.magnitude, axis=-1, initial=0.0)
    with np.errstate(over="ignore"):
        fits = 4 * most <= _powers(last + working.layout.precision)
        fits &= _powers(last) >= working.least_normal
    return np.asarray(~(fits | (share == 0)), dtype=np.bool_)


def _powers(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two to whole numbers; beyond float64 infinity or 0."""
    return np.ldexp(1.0, np.clip(exponents, -5000, 5000).astype(np.int64))
