"""A cell that goes along the sequences of a batch, and carries its states from step to step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from opcert.vocabulary.element_types import BINARY64
from reference.functions.functions import DOUBLE_BITS, USUAL_BITS
from reference.numbers.binary_numbers import BinaryNumber
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.rationals import Rationals
from reference.numbers.stacks import beside
from reference.numbers.working import rounded_up

States = tuple[Numbers, ...]
Step = Callable[[Numbers, States], States]
"""The next states of some sequences out of their elements and states, [sequences, ...] each."""


def along_sequences(
    step: Step, X: Numbers, states: States, lengths: Sequence[int], *, backward: bool
) -> tuple[Numbers, States]:
    """The first state after each step, [time, sequence, hidden], and all states after the last one.

    X is [time, sequence, input]. A sequence is as many elements of it as `lengths` says, from the last one on
    where `backward`. No document says what stands behind its end.
    """
    time, batch, hidden = X.shape[0], *states[0].shape
    counts = np.array(lengths, dtype=np.intp)
    pieces = [Numbers.exact([0], X.working)]
    places = np.zeros((time, batch, hidden), dtype=np.intp)
    for at in range(time):
        rows = np.flatnonzero(counts > at)
        if not rows.size:
            break
        times = counts[rows] - 1 - at if backward else np.full(rows.size, at)
        elements = X.arranged(lambda each, times=times, rows=rows: each[times, rows])  # type: ignore[misc]
        before = tuple(state.arranged(lambda each, rows=rows: each[rows]) for state in states)  # type: ignore[misc]
        after = tuple(held(each) for each in step(elements, before))
        states = tuple(_replaced(*each, rows) for each in zip(states, after, strict=True))
        first = 1 + sum(each.shape[0] for each in pieces[1:])
        places[times, rows] = first + np.arange(rows.size * hidden).reshape(rows.size, hidden)
        pieces.append(after[0].reshape((rows.size * hidden,)))
    every = beside(*pieces).gather(places)
    return opened(every, places == 0) if (places == 0).any() else every, states


def _replaced(old: Numbers, new: Numbers, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Numbers:
    """The old rows, and the new ones in the places of some of them."""
    if new.shape == old.shape:
        return new
    places = np.arange(old.error.size).reshape(old.shape)
    places[rows] = old.error.size + np.arange(new.error.size).reshape(new.shape)
    return beside(*(each.reshape((each.error.size,)) for each in (old, new))).gather(places)


def held(numbers: Numbers) -> Numbers:
    """The same numbers with as many digits as values of functions have, where they have come to more."""
    bits = DOUBLE_BITS if numbers.working.layout == BINARY64 else USUAL_BITS
    value = numbers.value.spread(numbers.shape)
    if value.power is not None and value.power <= 2 * bits:
        return numbers
    found, cut = [], np.zeros(numbers.error.size)
    for place, (numerator, denominator) in enumerate(value.ratios()):
        shift = max(bits + denominator.bit_length() - numerator.bit_length(), 0)
        whole, rest = divmod(numerator << shift, denominator)
        found.append(BinaryNumber(whole, -shift))
        cut[place] = float(rest != 0)
    size = np.ldexp(np.abs(value.floats()), 2 - bits) + np.finfo(np.float64).smallest_subnormal
    error = rounded_up(numbers.error + cut.reshape(numbers.shape) * size)
    return replace(numbers, value=Rationals.of_binary(found, numbers.shape), error=error)
