"""CumSum and CumProd: sums and products of the elements up to each one along an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.registry import reference_operator
from reference.sums.products import running_products
from reference.sums.summation import running_totals


def accumulated(
    x: Numbers, axis: int, exclusive: int, reverse: int, accumulate: Callable[[Numbers], Numbers]
) -> Numbers:
    """What the elements before each one along an axis come to and, unless exclusive, it with them."""
    flipped = x.arranged(lambda each: np.flip(each, axis) if reverse else each)
    found = accumulate(flipped.arranged(lambda each: np.moveaxis(each, axis, -1)))
    found = found.arranged(lambda each: each[..., :-1] if exclusive else each[..., 1:])
    found = found.arranged(lambda each: np.moveaxis(each, -1, axis))
    return found.arranged(lambda each: np.flip(each, axis) if reverse else each)


@reference_operator("ai.onnx::CumSum")
def cumulative_sum(x: Numbers, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Numbers:
    """The sum of the elements before each one and, unless exclusive, of itself. Source: CumSum, Summary."""
    return accumulated(x, axis, exclusive, reverse, running_totals)


@reference_operator("ai.onnx::CumProd")
def cumulative_product(x: Numbers, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Numbers:
    """The product of the elements before each one and, unless exclusive, itself. Source: CumProd, Summary."""
    return accumulated(x, axis, exclusive, reverse, running_products)
