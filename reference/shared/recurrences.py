"""What recurrent operators have in common: weights gate by gate, directions, layouts, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from reference.answers.orders import NanInMaxMin, greater_of, lesser_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import beside, parted, stacked
from reference.readings.choices import Choice
from reference.shared.cell_activations import CellFunction
from reference.shared.sequences import Step, along_sequences
from reference.sums.summation import sum_of_products

_BACKWARD = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@dataclass(frozen=True)
class GateWeights:
    """W, R and B of one direction side by side, a row for each gate and place of the state."""

    columns: Numbers
    hidden: int
    split: int
    """How many of the columns are weights of inputs and their bias; the others are those of states."""

    @classmethod
    def of_direction(cls, W: Numbers, R: Numbers, B: Numbers | None, place: int) -> GateWeights:
        """Those of one place along the first axes of W, R and B."""
        parts = [part_of(W, place), part_of(R, place)]
        if B is not None:
            biases = part_of(B, place).reshape((2, R.shape[1], 1))
            parts = [parts[0], part_of(biases, 0), parts[1], part_of(biases, 1)]
        return cls(beside(*parts), R.shape[2], W.shape[2] + (B is not None))

    def of_gates(self, *gates: int) -> Numbers:
        """The weights of some gates, [1, gates * hidden, terms]."""
        places = np.concatenate([each * self.hidden + np.arange(self.hidden) for each in gates])
        return self.columns.arranged(lambda each: each[None, places])

    def terms(self, x: Numbers, h: Numbers) -> Numbers:
        """What they are multiplied with, [sequences, 1, terms]: inputs, states, and ones for biases."""
        one = [Numbers.exact(np.ones((x.shape[0], 1), dtype=object), x.working)] * (self.split - x.shape[1])
        rows = beside(x, *one, h, *one)
        return rows.reshape((rows.shape[0], 1, rows.shape[1]))


def weighted(*terms: tuple[Numbers, Numbers]) -> Numbers:
    """The sum of products of numbers of one shape, in any order."""
    left, right = (stacked([each[side] for each in terms]) for side in (0, 1))
    return sum_of_products(left, right)


def between(z: Numbers, h: Numbers, last: Numbers) -> Numbers:
    """(1 - z) h + z H, which is h + z (H - h) and h - z h + z H as well: one sum.

    Of an infinite h they are not the same: it is open there, but where none of them gives a number.
    """
    one = z.lift(1).broadcast(h.shape)
    found = weighted((one, h), (-z, h), (z, last))
    infinite = np.isinf(h.sign)
    if not infinite.any():
        return found
    return opened(found, infinite & ~np.isnan(((1 - z) * h + z * last).sign))


def times(left: Numbers, right: Numbers) -> Numbers:
    """Products of numbers; that of zero and any other number is zero, whatever the other is off by."""
    found = left * right
    nothing = [(each.value.signs() == 0) & (each.error == 0) & each.finite for each in (left, right)]
    return replace(found, error=np.where(found.finite & (nothing[0] | nothing[1]), 0.0, found.error))


def recur(
    step_of: Callable[[int], Step],
    X: Numbers,
    initial: Sequence[Numbers | None],
    hidden: int,
    sequence_lens: tuple[int, ...] | None,
    direction: str,
    layout: int,
) -> tuple[Numbers, ...]:
    """Y and the last states of a cell, whose step `step_of` gives for each direction.

    Source: RNN, GRU and LSTM, direction, layout, sequence_lens, initial_h, initial_c, Y, Y_h, Y_c.
    """
    if layout:
        X = X.transposed((1, 0, 2))
    time, batch, _ = X.shape
    lengths = [time] * batch if sequence_lens is None else sequence_lens
    nothing = Numbers.exact(0, X.working).broadcast((batch, hidden))
    outputs: list[Numbers] = []
    finals: list[tuple[Numbers, ...]] = []
    for place, backward in enumerate(_BACKWARD[direction]):
        states = tuple(nothing if each is None else part_of(each, place, layout) for each in initial)
        every, last = along_sequences(step_of(place), X, states, lengths, backward=backward)
        outputs.append(every)
        finals.append(last)
    Y = stacked(outputs).transposed((1, 0, 3, 2) if layout else (0, 3, 1, 2))
    order = (0, 2, 1) if layout else (2, 0, 1)
    return Y, *(stacked(each).transposed(order) for each in zip(*finals, strict=True))


@dataclass(frozen=True)
class Threshold:
    """What bounds the inputs of activations; nothing where there is none. Source: clip."""

    most: Numbers | None
    nan: Choice[NanInMaxMin]

    @classmethod
    def of(cls, clip: Fraction | None, nan: Choice[NanInMaxMin], like: Numbers) -> Threshold:
        """That of an attribute, in the arithmetic of other numbers."""
        return cls(None if clip is None else like.held(clip), nan)

    def bounded(self, numbers: Numbers) -> Numbers:
        """The numbers within the threshold; of NaN anything, where the lesser of it may be a number."""
        if self.most is None:
            return numbers
        found = greater_of(lesser_of(numbers, self.most, self.nan), -self.most, self.nan)
        nans = np.isnan(numbers.sign)
        return opened(found, nans) if nans.any() and self.nan.ask() != "propagates" else found

    def before(self, function: CellFunction) -> Callable[[Numbers], Numbers]:
        """The function of bounded numbers."""
        return lambda numbers: function(self.bounded(numbers))

    def is_passed(self, numbers: Numbers) -> bool:
        """Whether one of the numbers may be beyond it."""
        return self.most is not None and bool((numbers.magnitude > self.most.magnitude).any())


def part_of(numbers: Numbers, place: int, axis: int = 0) -> Numbers:
    """One of the parts along an axis, which goes away."""
    return numbers.arranged(lambda each: each.take(place, axis))


def blocks(numbers: Numbers, count: int) -> tuple[Numbers, ...]:
    """So many blocks side by side along the last axis."""
    return parted(numbers, [numbers.shape[-1] // count] * count)


def cut(numbers: Numbers, at: int) -> tuple[Numbers, Numbers]:
    """What is before and what is behind a place of the last axis."""
    return numbers.arranged(lambda each: each[..., :at]), numbers.arranged(lambda each: each[..., at:])
