"""ReduceLogSum and ReduceLogSumExp: logarithms of sums along axes."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from reference.functions.functions import function_of
from reference.functions.stable_formulas import Overflow, logarithm_of_underflown, whichever
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.operators.reductions import Axes, reduced_axes
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.shared.extremes import greatest
from reference.sums.summation import total


@reference_operator("ai.onnx::ReduceLogSum")
def reduce_log_sum(
    data: Numbers, axes: Axes = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
) -> Numbers:
    """The logarithm of the sum; of none minus infinity. Source: ReduceLogSum, Summary."""
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    return function_of("log", total(data, chosen, keepdims=bool(keepdims)))


@reference_operator("ai.onnx::ReduceLogSumExp")
def reduce_log_sum_of_powers(
    data: Numbers,
    axes: Axes = None,
    *,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    intermediate_overflow: Overflow,
) -> Numbers:
    """The logarithm of the sum of the exponentials; of none minus infinity.

    The greatest element may be subtracted first and added at the end. Source: ReduceLogSumExp, Summary.
    """
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    powers = function_of("exp", data)
    summed = total(powers, chosen, keepdims=True)
    written = function_of("log", summed)
    most = greatest(data, chosen, Choice("propagates"), keepdims=True)
    apart = total(function_of("exp", data - most), chosen, keepdims=True)
    stable = most + function_of("log", apart)
    over = (np.isinf(summed.sign) | summed.lost) & most.finite
    tiny = data.finite & (powers.value.floats() < 2 * data.working.least_normal)
    below = np.any(tiny, axis=chosen, keepdims=True) & (most.sign < 0) & most.finite
    wild = over | below
    found = written.where(~wild, stable)
    either = whichever(found, lambda: stable).where(most.finite, written)
    found = either.where(~wild, found)
    if wild.any() and intermediate_overflow.ask() == "as_formula":
        found = logarithm_of_underflown(summed, np.asarray(below & ~over), found)
        found = replace(found, lost=found.lost | over)
    if prod(data.shape[each] for each in chosen) and np.isinf(most.sign).any():
        # Beside an infinity the difference from the greatest element is no number.
        found = opened(found, np.isinf(most.sign))
    return found if keepdims else found.reshape(total(data, chosen).shape)
