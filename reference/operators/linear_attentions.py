"""LinearAttention: a state of keys times values for each head, which queries read instead of all keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.tensors import Tensor
from reference.functions.functions import function_of
from reference.numbers.accumulations import RUNNING, WHOLE
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import stacked
from reference.numbers.working import MARGIN, Floats, Mask, Working, rounded_up
from reference.registry import reference_operator
from reference.shared.heads import GroupedHeads, by_heads, heads_for_queries
from reference.shared.recurrences import part_of
from reference.shared.sequences import held
from reference.sums.summation import sum_of_products


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """What a formula comes to with every term's magnitude, and what its terms may be off by together.

    `most` is the greatest that programs may hold, with the error; neither is less than what is exact.
    """

    working: Working
    most: Floats
    error: Floats

    @classmethod
    def of(cls, numbers: Numbers) -> Magnitudes:
        return cls(numbers.working, numbers.magnitude, numbers.error)

    def __mul__(self, other: Magnitudes) -> Magnitudes:
        error = _times(self.most, other.error) + _times(self.error, other.most)
        return Magnitudes(self.working, rounded_up(_times(self.most, other.most)), rounded_up(error))

    def __add__(self, other: Magnitudes) -> Magnitudes:
        return Magnitudes(
            self.working, rounded_up(self.most + other.most), rounded_up(self.error + other.error)
        )

    def total(self) -> Magnitudes:
        """The sums along the last axis."""
        return self.arranged(lambda each: rounded_up(WHOLE.floats(each)[..., 0]))

    def arranged(self, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Magnitudes:
        """In another order or shape."""
        return Magnitudes(self.working, arrange(self.most), arrange(self.error))

    def charged(self, roundings: int | Floats) -> Magnitudes:
        """With so many roundings of every term, of which each may also underflow, or be flushed."""
        working = self.working
        tiny = np.asarray((self.most > 0) & (self.most < working.least_normal))
        least = working.least_normal if working.flushes(tiny) else working.least
        more = np.where(self.most > 0, roundings * (working.unit * self.most + least), 0.0)
        return Magnitudes(working, rounded_up(self.most + more), rounded_up(self.error + more))

    def bounding(self, numbers: Numbers) -> Numbers:
        """Numbers with these errors, of what they bound; lost where a term may be beyond all numbers."""
        finite: Mask = numbers.finite
        error = np.where(finite, np.maximum(numbers.error, self.error), numbers.error)
        numbers.working.note_chain(finite & (error > 0))
        beyond = self.most >= numbers.working.greatest * (1 - MARGIN)
        return replace(numbers, error=error, lost=numbers.lost | (finite & beyond))


def _times(left: Floats, right: Floats) -> Floats:
    """Products of bounds; that of zero and one beyond all numbers is zero."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = left * right
    return np.where((left == 0) | (right == 0), 0.0, found)


@dataclass(frozen=True, eq=False)
class HeadStep:
    """One step of all heads, [batch, heads, size]: key and value, what the state is times, and the rate."""

    key: Numbers
    value: Numbers
    factor: Numbers | None
    rate: Numbers | None

    def after(self, state: Numbers) -> Numbers:
        """S = exp(g) S + k (b (v - exp(g) S' k))', [batch, heads, places of values, places of keys]."""
        if self.factor is not None:
            state = state * _rows(self.factor)
        written = self.value
        if self.rate is not None:
            written = self.rate * (written - sum_of_products(state, _rows(self.key)))
        return held(state + _columns(written) * _rows(self.key))

    def bounds(self, sizes: Magnitudes, time: int) -> Magnitudes:
        """The magnitudes of the state, whether steps or whole chunks are computed.

        Chunks multiply keys by keys first, and add up or invert what of so many steps depends on each other.
        """
        key, written = Magnitudes.of(_rows(self.key)), Magnitudes.of(self.value)
        if self.factor is not None:
            sizes = (sizes * Magnitudes.of(_rows(self.factor))).charged(1)
        if self.rate is not None:
            kept = (sizes * key).total().charged(self.key.shape[2] + time + 2)
            written = (Magnitudes.of(self.rate) * (written + kept).charged(1)).charged(1)
        columns = written.arranged(lambda each: each[..., None])
        return (sizes + (columns * key).charged(1)).charged(1)


@reference_operator("ai.onnx::LinearAttention")
def linear_attention(
    query: Numbers,
    key: Numbers,
    value: Numbers,
    past_state: Tensor | None = None,
    decay: Numbers | None = None,
    beta: Numbers | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: Fraction = Fraction(0),
    update_rule: str = "gated_delta",
    grouped_heads: GroupedHeads,
) -> tuple[Numbers, Numbers]:
    """The state after each step, of which scale S' q comes out.

    Without a gate exp(g) is 1, without the delta rule the value itself is written.
    Source: LinearAttention, Summary and every attribute and input.
    """
    q, k, v = (
        _by_steps(*each) for each in ((query, q_num_heads), (key, kv_num_heads), (value, kv_num_heads))
    )
    gate = None if decay is None or "gated" not in update_rule else _by_steps(decay, kv_num_heads)
    rate = None if beta is None or "delta" not in update_rule else _by_steps(beta, beta.shape[2])
    factor = None if gate is None else _factors(gate)
    (time, batch, heads, size), width = k.shape, v.shape[3]
    state = _first(past_state, query, (batch, heads, width, size))
    unclear = np.asarray(~state.finite.all(axis=(2, 3)))
    for each in (each for each in (k, v, gate, rate) if each is not None):
        unclear = np.asarray(unclear | ~each.finite.all(axis=(0, 3)))
    # Chunks have factors as quotients, sums over steps, and inverses of what these make of each other.
    chunks = 10 * (gate is not None) + (2 * time + 4) * (rate is not None)
    places = heads_for_queries(heads, q_num_heads, grouped_heads)
    by, sizes, outputs = _scaling(query, size, scale), Magnitudes.of(state), []
    for at in range(time):
        step = HeadStep(
            part_of(k, at), part_of(v, at), *(each and part_of(each, at) for each in (factor, rate))
        )
        state, sizes = step.after(state), step.bounds(sizes, time)
        row = _rows(part_of(q, at))
        terms = sizes.charged(chunks).arranged(lambda each: each[:, places]) * Magnitudes.of(row)
        bound = (terms.total().charged(size + time + 3) * Magnitudes.of(by)).charged(1)
        read = state.arranged(lambda each: each[:, places])
        found = bound.bounding(sum_of_products(read, row) * by)
        outputs.append(opened(found, unclear[:, places, None] | ~row.finite.all(axis=3)))
    last = opened(sizes.charged(chunks).bounding(state) if time else state, unclear[:, :, None, None])
    return _packed(outputs, query, width * q_num_heads), _typed(last.transposed((0, 1, 3, 2)), past_state)


def _by_steps(given: Numbers, heads: int) -> Numbers:
    """(batch, time, heads x size) as (time, batch, heads, size)."""
    return given.arranged(lambda each: by_heads(each, heads).transpose((2, 0, 1, 3)))


def _rows(given: Numbers) -> Numbers:
    return given.arranged(lambda each: each[..., None, :])


def _columns(given: Numbers) -> Numbers:
    return given.arranged(lambda each: each[..., None])


def _factors(gate: Numbers) -> Numbers:
    """The exponentials of logarithms [time, ...], each by itself or as a quotient of two of running sums.

    A difference of sums of n logarithms errs by 2 n + 1 roundings of their magnitudes; another exponential
    and a product are charged beside it.
    """
    unit = gate.working.unit
    gate.working.needs_full_functions("decays are")
    summed = np.moveaxis(RUNNING.floats(np.moveaxis(gate.magnitude, 0, -1))[..., 1:], -1, 0)
    counts = np.arange(1, gate.shape[0] + 1).reshape((-1, 1, 1, 1))
    apart = rounded_up(gate.error + unit * (2 * counts + 1) * summed)
    found = function_of("exp", replace(gate, error=np.where(gate.finite & (counts > 1), apart, gate.error)))
    return found.rounded(4, exact=found.error == 0)


def _first(past_state: Tensor | None, query: Numbers, shape: tuple[int, ...]) -> Numbers:
    """The state before the first step, with the places of keys last; zero where none is given."""
    if past_state is None:
        return Numbers.exact(0, query.working).broadcast(shape)
    given = Numbers.of(past_state, query.working)
    return given.rounded(1, exact=True).transposed((0, 1, 3, 2))


def _scaling(query: Numbers, size: int, scale: Fraction) -> Numbers:
    """The factor of what is read: one over the root of the size of a head where it is 0."""
    one = Numbers.exact(1, query.working)
    return one.held(scale) if scale else one / Numbers.exact(size, query.working).sqrt()


def _packed(outputs: list[Numbers], query: Numbers, width: int) -> Numbers:
    """What is read at each step, [batch, heads, size], as (batch, time, heads x size)."""
    batch, time, _ = query.shape
    if not outputs:
        return Numbers.exact(0, query.working).broadcast((batch, time, width))
    return stacked(outputs).transposed((0, 3, 1, 2)).reshape((batch, time, width))


def _typed(state: Numbers, past_state: Tensor | None) -> Numbers:
    """The state in the type of the one before it."""
    if past_state is None:
        return state
    return replace(state, working=replace(state.working, element_type=past_state.element_type))
