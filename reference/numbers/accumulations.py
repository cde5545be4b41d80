"""What the elements of a last axis come to, all of them or the first of each number, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.numbers.rationals import Rationals
from reference.numbers.working import Floats, Mask


@dataclass(frozen=True)
class RunningAxis:
    """Of all elements, the axis kept with length 1; or of none, the first, the first two ... where `running`.

    Accumulation goes from the first element on, so that every library rounds alike.
    """

    running: bool

    def exact(self, value: Rationals) -> Rationals:
        """The sums of exact numbers."""
        if value.denominator.shape == ():
            return Rationals(self._gathered(np.add, value.numerator, 0), value.denominator)
        return self.exact(value.shared())

    def products(self, value: Rationals) -> Rationals:
        """The products of exact numbers."""
        denominator = np.broadcast_to(value.denominator, value.shape)
        numerator = np.broadcast_to(value.numerator, value.shape)
        return Rationals(
            self._gathered(np.multiply, numerator, 1), self._gathered(np.multiply, denominator, 1)
        )

    def floats(self, terms: Floats) -> Floats:
        """The sums of magnitudes and errors."""
        with np.errstate(over="ignore"):
            return self._gathered(np.add, terms, 0.0)

    def count(self, given: Mask) -> Floats:
        """How many there are."""
        return self.floats(given.astype(np.float64))

    def float_products(self, factors: Floats) -> Floats:
        """The products of magnitudes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._gathered(np.multiply, factors, 1.0)

    def special(self, sign: Floats) -> Floats:
        """NaN and infinities added up; 0 where there are none."""
        with np.errstate(invalid="ignore"):
            return self._gathered(np.add, np.where(np.isfinite(sign), 0.0, sign), 0.0)

    def least(self, given: Floats) -> Floats:
        """The least of them; infinity of none."""
        return self._gathered(np.minimum, given, np.inf)

    def any(self, given: Mask) -> Mask:
        return np.asarray(self._gathered(np.logical_or, given, False), dtype=np.bool_)

    def all(self, given: Mask) -> Mask:
        return np.asarray(self._gathered(np.logical_and, given, True), dtype=np.bool_)

    def _gathered(self, operation: np.ufunc, given: NDArray[Any], first: object) -> NDArray[Any]:
        """`operation` from the first element on, beginning with what it leaves as it is."""
        if not self.running and (given.dtype == object or operation not in (np.add, np.multiply)):
            # Of these the order does not matter.
            reduced = operation.reduce(given, axis=-1, keepdims=True, initial=first)
            return np.asarray(reduced, dtype=given.dtype)
        start = np.full((*given.shape[:-1], 1), first, dtype=given.dtype)
        found = operation.accumulate(np.concatenate([start, given], axis=-1), axis=-1)
        return np.asarray(found if self.running else found[..., -1:], dtype=given.dtype)


WHOLE = RunningAxis(running=False)
RUNNING = RunningAxis(running=True)
