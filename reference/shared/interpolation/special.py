"""NaN and infinities in weighted sums, where a weight may or may not be zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from reference.numbers.additions import along
from reference.numbers.numbers import Decoded
from reference.sums.weights import AxisWeights


def outcomes(
    data: Decoded, weights: Sequence[tuple[int, AxisWeights]]
) -> dict[int, tuple[float | None, tuple[float, ...]]]:
    """What elements with taps that are not finite become (by flat index), and what else they may be.

    The result is NaN, an infinity, or None where only taps of weight 0 are not finite, so that the finite
    taps' sum stands. A weight that is certainly not 0 passes NaN and infinities on; one that may be 0, or
    that a route may multiply with though it is 0, leaves both answers open.
    """
    strange = ~data.finite
    if not strange.any():
        return {}
    reached = strange.astype(np.float64)
    for axis, each in weights:
        reached = along(axis, each.touched.astype(np.float64), reached)
    by_axis = dict(weights)
    found: dict[int, tuple[float | None, tuple[float, ...]]] = {}
    for index in np.argwhere(reached > 0):
        taps = _taps(data, by_axis, tuple(index.tolist()))
        flat = int(np.ravel_multi_index(tuple(index), reached.shape))
        found[flat] = _combine(taps)
    return found


@dataclass(frozen=True)
class Tap:
    """An element that is not finite: its value, the sign of its weight (0 for doubtful), and two doubts.

    `clear` is False where taps of other signs, or doubtful ones, fall on the same element; `possible` where
    the weight may be other than 0 at all.
    """

    value: float
    sign: int
    clear: bool
    possible: bool


def _taps(data: Decoded, weights: dict[int, AxisWeights], index: tuple[int, ...]) -> list[Tap]:
    """The elements that are not finite among an output element's taps, with the sign of their weight."""
    columns = []
    for axis, position in enumerate(index):
        each = weights.get(axis)
        columns.append([position] if each is None else np.flatnonzero(each.touched[position]).tolist())
    found: list[Tap] = []
    for tap in product(*columns):
        if data.finite[tap]:
            continue
        sign, clear, possible = 1, True, True
        for axis, each in weights.items():
            place = index[axis], tap[axis]
            sign *= int(each.sign[place])
            clear &= not each.mixed[place]
            possible &= bool(each.size[place] + abs(each.shared[place]) + each.fresh[place] > 0)
        found.append(Tap(float(data.special[tap]), sign, clear, possible))
    return found


def _combine(taps: list[Tap]) -> tuple[float | None, tuple[float, ...]]:
    definite = [tap.value * tap.sign for tap in taps if tap.sign]
    open_taps = [tap for tap in taps if not tap.sign or not tap.clear]
    if any(math.isnan(each) for each in definite) or {math.inf, -math.inf} <= set(definite):
        return math.nan, ()
    result = definite[0] if definite else None
    others: list[float] = [math.nan] if open_taps else []
    if result is None and any(math.isinf(each.value) and each.possible for each in open_taps):
        others += [math.inf, -math.inf]
    return result, tuple(others)
