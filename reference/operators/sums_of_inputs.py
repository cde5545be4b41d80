"""Sum and Mean: of the elements of several inputs that are broadcast against each other."""

from __future__ import annotations

from reference.numbers.number_arrays import Numbers
from reference.numbers.stacks import stacked
from reference.registry import reference_operator
from reference.sums.summation import mean_of, total


@reference_operator("ai.onnx::Sum")
def sum_of_inputs(data_0: tuple[Numbers, ...]) -> Numbers:
    """The sum of the inputs by element. Source: Sum, Summary."""
    return total(stacked(data_0), -1)


@reference_operator("ai.onnx::Mean")
def mean_of_inputs(data_0: tuple[Numbers, ...]) -> Numbers:
    """The mean of the inputs by element. Source: Mean, Summary."""
    return mean_of(total(stacked(data_0), -1), len(data_0))
