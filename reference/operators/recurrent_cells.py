"""RNN, GRU and LSTM: cells whose states go along sequences, in one direction or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from reference.answers.orders import NanComparison, NanReading
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.cell_activations import CellFunction, Unsaid, functions_of
from reference.shared.recurrences import (
    GateWeights,
    Threshold,
    between,
    blocks,
    cut,
    part_of,
    recur,
    times,
    weighted,
)
from reference.shared.sequences import States, Step
from reference.sums.summation import sum_of_products

Infinity = Annotated[Choice[Literal["nan", "limit"]], AsReading]
AtThreshold = Annotated[Choice[Literal["kept", "zero"]], AsReading]
Belonging = Annotated[Choice[Literal["taken", "placed"]], AsReading]


@reference_operator("ai.onnx::RNN")
def simple_network(
    X: Numbers,
    W: Numbers,
    R: Numbers,
    B: Numbers | None = None,
    sequence_lens: tuple[int, ...] | None = None,
    initial_h: Numbers | None = None,
    *,
    activations: tuple[str, ...] = ("Tanh", "Tanh"),
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    clip: Fraction | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    numbers_of_functions: Belonging,
    at_threshold: AtThreshold,
    nan_in_max_min: NanReading,
    nan_in_comparison: NanComparison,
    infinity_in_formula: Infinity,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """Ht = f(Xt W^T + Ht-1 R^T + Wb + Rb). Source: RNN, Summary, Equations."""
    unsaid = Unsaid(
        nan_in_max_min, nan_in_comparison, infinity_in_formula, intermediate_overflow, at_threshold
    )
    functions = functions_of(activations, activation_alpha, activation_beta, numbers_of_functions, unsaid)
    threshold = Threshold.of(clip, nan_in_max_min, X)

    def step_of(place: int) -> Step:
        weights, f = GateWeights.of_direction(W, R, B, place), threshold.before(functions[place])
        every = weights.of_gates(0)
        return lambda x, states: (f(sum_of_products(weights.terms(x, *states), every)),)

    return recur(step_of, X, (initial_h,), R.shape[2], sequence_lens, direction, layout)


@reference_operator("ai.onnx::GRU")
def gated_network(
    X: Numbers,
    W: Numbers,
    R: Numbers,
    B: Numbers | None = None,
    sequence_lens: tuple[int, ...] | None = None,
    initial_h: Numbers | None = None,
    *,
    activations: tuple[str, ...] = ("Sigmoid", "Tanh") * 2,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    clip: Fraction | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
    numbers_of_functions: Belonging,
    at_threshold: AtThreshold,
    nan_in_max_min: NanReading,
    nan_in_comparison: NanComparison,
    infinity_in_formula: Infinity,
    intermediate_overflow: Overflow,
) -> tuple[Numbers, ...]:
    """Gates z and r of a state, and the state between the last one and a new one.

    Source: GRU, Summary, Equations.
    """
    unsaid = Unsaid(
        nan_in_max_min, nan_in_comparison, infinity_in_formula, intermediate_overflow, at_threshold
    )
    functions = functions_of(activations, activation_alpha, activation_beta, numbers_of_functions, unsaid)
    threshold = Threshold.of(clip, nan_in_max_min, X)

    def step_of(place: int) -> Step:
        weights = GateWeights.of_direction(W, R, B, place)
        f, g = (threshold.before(each) for each in functions[2 * place : 2 * place + 2])
        gates, new = weights.of_gates(0, 1), weights.of_gates(2)

        def step(x: Numbers, states: States) -> States:
            (last,) = states
            terms = weights.terms(x, last)
            z, r = blocks(f(sum_of_products(terms, gates)), 2)
            if linear_before_reset:
                (outer, inner), (outer_new, inner_new) = (cut(each, weights.split) for each in (terms, new))
                reset = r * sum_of_products(inner, inner_new)
                h = g(sum_of_products(outer, outer_new, plus=reset))
            else:
                h = g(sum_of_products(weights.terms(x, times(r, last)), new))
            return (between(z, h, last),)

        return step

    return recur(step_of, X, (initial_h,), R.shape[2], sequence_lens, direction, layout)


@reference_operator("ai.onnx::LSTM")
def long_short_term_memory(
    X: Numbers,
    W: Numbers,
    R: Numbers,
    B: Numbers | None = None,
    sequence_lens: tuple[int, ...] | None = None,
    initial_h: Numbers | None = None,
    initial_c: Numbers | None = None,
    P: Numbers | None = None,
    *,
    activations: tuple[str, ...] = ("Sigmoid", "Tanh", "Tanh") * 2,
    activation_alpha: tuple[float, ...] = (),
    activation_beta: tuple[float, ...] = (),
    clip: Fraction | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
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
    """Gates i, o and f of a cell, and what of the cell comes out. Source: LSTM, Summary, Equations."""
    unsaid = Unsaid(
        nan_in_max_min, nan_in_comparison, infinity_in_formula, intermediate_overflow, at_threshold
    )
    functions = functions_of(activations, activation_alpha, activation_beta, numbers_of_functions, unsaid)
    step_of = memory_steps(
        lambda place: GateWeights.of_direction(W, R, B, place), P, functions,
        Threshold.of(clip, nan_in_max_min, X), coupled=bool(input_forget), clipped_cell=clipped_cell,
        coupled_gate=coupled_gate, absent_peepholes=absent_peepholes,
    )  # fmt: skip
    return recur(step_of, X, (initial_h, initial_c), R.shape[2], sequence_lens, direction, layout)


def memory_steps(
    weights_of: Callable[[int], GateWeights],
    P: Numbers | None,
    functions: Sequence[CellFunction],
    threshold: Threshold,
    *,
    coupled: bool,
    clipped_cell: Choice[Literal["gates", "every_input", "cell"]],
    coupled_gate: Choice[Literal["forget", "input"]],
    absent_peepholes: Choice[Literal["left_out", "zeros"]],
) -> Callable[[int], Step]:
    """The step of a cell of each direction, of weights, peepholes and functions. Source: LSTM, Equations."""

    def step_of(place: int) -> Step:
        weights = weights_of(place)
        peepholes = None if P is None else blocks(part_of(P, place), 3)
        f, g = (threshold.before(each) for each in functions[3 * place : 3 * place + 2])
        h = functions[3 * place + 2]

        def step(x: Numbers, states: States) -> States:
            last, cell = states
            terms = weights.terms(x, last)

            def gate(at: int, seen: Numbers) -> Numbers:
                peep = None
                if peepholes is not None:
                    peep = times(peepholes[at], seen)
                elif not seen.finite.all() and absent_peepholes.ask() == "zeros":
                    peep = times(seen.lift(0), seen)
                return f(sum_of_products(terms, weights.of_gates(at), plus=peep))

            couples_input = coupled and coupled_gate.ask() == "input"
            i = cell.lift(1) - gate(2, cell) if couples_input else gate(0, cell)
            forget = i.lift(1) - i if coupled and not couples_input else gate(2, cell)
            cell = weighted((forget, cell), (i, g(sum_of_products(terms, weights.of_gates(3)))))
            bounded, reach = threshold.bounded(cell), "gates"
            if threshold.is_passed(cell):
                reach = clipped_cell.ask()
            cell = bounded if reach == "cell" else cell
            return gate(1, cell) * h(cell if reach == "gates" else bounded), cell

        return step

    return step_of
