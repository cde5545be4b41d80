"""How far programs may be off that compute a formula's terms in any order: as if nothing cancelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.numbers.accumulations import WHOLE
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import MARGIN, Floats, Mask, Working, rounded_up


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
