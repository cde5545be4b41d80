"""ReduceSum, ReduceMean, ReduceProd, ReduceL1, ReduceL2 and ReduceSumSquare: sums and products along axes."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

import numpy as np

from reference.answers.orders import whole
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import kept_in_type, or_kept_in_type, passed_on, root
from reference.numbers.working import rounded_up
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.sums.products import product
from reference.sums.summation import mean_of, total, total_of_products

Axes = tuple[int, ...] | None
Conversion = Annotated[Choice[Literal["truncate", "floor", "half_even", "half_away", "half_up"]], AsReading]


def reduced_axes(data: Numbers, axes: Axes, noop_with_empty_axes: int) -> tuple[int, ...]:
    """The axes that are named; where there are none, all of them, or none where that is to change nothing."""
    return tuple(axes) if axes else () if noop_with_empty_axes else tuple(range(data.ndim))


@reference_operator("ai.onnx::ReduceSum")
def reduce_sum(
    data: Numbers, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> Numbers:
    """The sum of the elements; of none 0. Source: ReduceSum, Summary."""
    return total(data, reduced_axes(data, axes, noop_with_empty_axes), keepdims=bool(keepdims))


@reference_operator("ai.onnx::ReduceMean")
def reduce_mean(
    data: Numbers,
    axes: Axes = None,
    *,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    integer_conversion: Conversion,
) -> Numbers:
    """The sum of the elements divided by their count. Source: ReduceMean, Summary."""
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    count = prod(data.shape[each] for each in chosen)
    greatest = np.max(data.magnitude, axis=chosen, keepdims=bool(keepdims), initial=0.0)
    found = total(data, chosen, keepdims=bool(keepdims))
    mean = mean_of(passed_on(found, greatest, count), count)
    if not data.is_integer:
        return mean
    conversion = integer_conversion.ask()
    return or_kept_in_type(
        whole(mean, conversion), found, [lambda sums: whole(mean_of(sums, count), conversion)]
    )


@reference_operator("ai.onnx::ReduceProd")
def reduce_product(
    data: Numbers, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> Numbers:
    """The product of the elements; of none 1. Source: ReduceProd, Summary."""
    return product(data, reduced_axes(data, axes, noop_with_empty_axes), keepdims=bool(keepdims))


@reference_operator("ai.onnx::ReduceL1")
def reduce_l1(
    data: Numbers, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> Numbers:
    """The sum of the absolute values; of none 0. Source: ReduceL1, Summary."""
    return total(abs(data), reduced_axes(data, axes, noop_with_empty_axes), keepdims=bool(keepdims))


@reference_operator("ai.onnx::ReduceSumSquare")
def reduce_sum_of_squares(
    data: Numbers, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> Numbers:
    """The sum of the squares; of none 0. Source: ReduceSumSquare, Summary."""
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    return total_of_products(data, data, chosen, keepdims=bool(keepdims))


@reference_operator("ai.onnx::ReduceL2")
def reduce_l2(
    data: Numbers,
    axes: Axes = None,
    *,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    integer_conversion: Conversion,
) -> Numbers:
    """The square root of the sum of the squares; of none 0. Source: ReduceL2, Summary."""
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    count = prod(data.shape[each] for each in chosen)
    squares = total_of_products(data, data, chosen, keepdims=bool(keepdims))
    greatest = np.max(data.magnitude, axis=chosen, keepdims=bool(keepdims), initial=0.0)
    with np.errstate(over="ignore"):
        most = rounded_up(greatest * greatest)
    norm = root(passed_on(squares, most, count))
    if not data.is_integer:
        return norm
    conversion = integer_conversion.ask()
    # Of NaN processors make 0 or the least integer.
    least, _ = data.working.element_type.integer_range
    roots = (lambda sums: whole(root(sums), conversion), lambda sums: whole(root(sums, least), conversion))
    return or_kept_in_type(
        whole(norm, conversion),
        squares,
        roots,
        lambda: [total(each, chosen, keepdims=bool(keepdims)) for each in kept_in_type(data * data)],
    )
