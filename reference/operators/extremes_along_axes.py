"""ReduceMax and ReduceMin: the greatest and the least element along axes."""

from __future__ import annotations

from reference.answers.orders import NanReading
from reference.numbers.number_arrays import Numbers
from reference.operators.reductions import Axes, reduced_axes
from reference.registry import reference_operator
from reference.shared.extremes import greatest, least


@reference_operator("ai.onnx::ReduceMax")
def reduce_max(
    data: Numbers,
    axes: Axes = None,
    *,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    nan_in_max_min: NanReading,
) -> Numbers:
    """The greatest element; of none -infinity or the least number of the type. Source: ReduceMax, Summary."""
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    return greatest(data, chosen, nan_in_max_min, keepdims=bool(keepdims))


@reference_operator("ai.onnx::ReduceMin")
def reduce_min(
    data: Numbers,
    axes: Axes = None,
    *,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    nan_in_max_min: NanReading,
) -> Numbers:
    """The least element; of none infinity or the greatest number of the type. Source: ReduceMin, Summary."""
    chosen = reduced_axes(data, axes, noop_with_empty_axes)
    return least(data, chosen, nan_in_max_min, keepdims=bool(keepdims))
