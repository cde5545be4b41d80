"""DynamicQuantizeLSTM: a cell whose inputs and states are quantised before weights of bytes are applied."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers.orders import NanComparison, NanReading
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import stacked
from reference.operators.quantised_matrices import quantised_on_the_way
from reference.operators.recurrent_cells import AtThreshold, Belonging, Infinity, memory_steps
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.cell_activations import Unsaid, functions_of
from reference.shared.recurrences import GateWeights, Threshold, part_of, recur

StepsOfInputs = Literal["all", "read", "step", "row"]
StepsOfStates = Literal["step", "row"]


@reference_operator("com.microsoft::DynamicQuantizeLSTM")
def quantised_long_short_term_memory(
    X: Numbers,
    W: Tensor,
    R: Tensor,
    B: Numbers | None = None,
    sequence_lens: tuple[int, ...] | None = None,
    initial_h: Numbers | None = None,
    initial_c: Numbers | None = None,
    P: Numbers | None = None,
    W_scale: Numbers | None = None,
    W_zero_point: Tensor | None = None,
    R_scale: Numbers | None = None,
    R_zero_point: Tensor | None = None,
    *,
    activations: tuple[str, ...] = ("Sigmoid", "Tanh", "Tanh") * 2,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    clip: Fraction | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    steps_of_inputs: Annotated[Choice[StepsOfInputs], AsReading],
    steps_of_states: Annotated[Choice[StepsOfStates], AsReading],
    clipped_cell: Annotated[Choice[Literal["gates", "every_input", "cell"]], AsReading],
    coupled_gate: Annotated[Choice[Literal["forget", "input"]], AsReading],
    absent_peepholes: Annotated[Choice[Literal["left_out", "zeros"]], AsReading],
    numbers_of_functions: Belonging,
    at_threshold: AtThreshold,
    nan_in_max_min: NanReading,
    nan_in_comparison: NanComparison,
    infinity_in_formula: Infinity,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """LSTM of X and states as DynamicQuantizeLinear has them, and of (W - zero point) scale and R likewise.

    No sentence says more than the operator's name, which is that of the two that it is read as.
    Source: DynamicQuantizeLSTM, its Inputs; LSTM, Summary, Equations; DynamicQuantizeLinear, Summary.
    """
    unsaid = Unsaid(
        nan_in_max_min, nan_in_comparison, infinity_in_formula, intermediate_overflow, at_threshold
    )
    functions = functions_of(activations, activation_alpha, activation_beta, numbers_of_functions, unsaid)
    weights = _apart(W, W_zero_point, W_scale), _apart(R, R_zero_point, R_scale)
    step_of = memory_steps(
        lambda place: _WeightsOfSteps.of(GateWeights.of_direction(*weights, B, place), steps_of_states),
        P, functions, Threshold.of(clip, nan_in_max_min, X), coupled=bool(input_forget),
        clipped_cell=clipped_cell, coupled_gate=coupled_gate, absent_peepholes=absent_peepholes,
    )  # fmt: skip
    read = X.shape[0] if sequence_lens is None else max(sequence_lens, default=0)
    inputs = _inputs_in_steps(X, read, steps_of_inputs)
    return recur(step_of, inputs, (initial_h, initial_c), R.shape[1], sequence_lens, direction, 0)


def _apart(weights: Tensor, zero_point: Tensor | None, scale: Numbers | None) -> Numbers:
    """(weights - zero point) scale, one of each for a direction or for each column, a row for each gate."""
    assert zero_point is not None, "it is required"
    assert scale is not None, "it is required"
    zeros, scales = (
        each.reshape((each.shape[0], 1, each.error.size // each.shape[0]))
        for each in (Numbers.of(zero_point, scale.working), scale)
    )
    found = (Numbers.of(weights, scale.working) - zeros) * scales
    # A program may add up first and multiply with the scale then, which is another thing of infinities.
    found = found if scales.finite.all() else opened(found, ~scales.finite)
    return found.transposed((0, 2, 1))


@dataclass(frozen=True)
class _WeightsOfSteps(GateWeights):
    """Weights that are applied to states in steps of a byte."""

    shared: Choice[StepsOfStates]

    @classmethod
    def of(cls, weights: GateWeights, shared: Choice[StepsOfStates]) -> _WeightsOfSteps:
        return cls(weights.columns, weights.hidden, weights.split, shared)

    def terms(self, x: Numbers, h: Numbers) -> Numbers:
        """The same as of other states: inputs are in steps already."""
        alone = h.shape[0] > 1 and self.shared.ask() == "row"
        return super().terms(x, _each(h) if alone else in_steps_of_a_byte(h))


def in_steps_of_a_byte(given: Numbers) -> Numbers:
    """Numbers as their quantisation has them: steps from zero times the step; of NaN there is none."""
    steps, scale = quantised_on_the_way(given)
    found = steps * scale
    return found if given.finite.all() else opened(found, np.ones(found.shape, dtype=np.bool_))


def _inputs_in_steps(X: Numbers, read: int, shared: Choice[StepsOfInputs]) -> Numbers:
    """X quantised at once, as far as it is read, by steps of time or by rows; asked of several rows."""
    time, batch, width = X.shape
    way = shared.ask() if time * batch > 1 else "all"
    if not X.error.size:
        return X
    if way == "read":
        # The range has zero in it in any case, so that zeros behind what is read change nothing.
        is_read = np.broadcast_to((np.arange(time) < read)[:, None, None], X.shape)
        return in_steps_of_a_byte(X.where(is_read, X.lift(0).broadcast(X.shape)))
    if way == "row":
        return _each(X.reshape((time * batch, width))).reshape(X.shape)
    return _each(X) if way == "step" else in_steps_of_a_byte(X)


def _each(rows: Numbers) -> Numbers:
    """Rows along the first axis, each quantised by itself."""
    if not rows.error.size:
        return rows
    parts = [in_steps_of_a_byte(part_of(rows, at)) for at in range(rows.shape[0])]
    return stacked(parts).arranged(lambda each: np.moveaxis(each, -1, 0))
