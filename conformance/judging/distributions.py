"""Draws of a distribution, told from others with a stated rate of false alarms.

The bounds hold for every number of elements: that of Dvoretzky, Kiefer and Wolfowitz (Massart's constant) for
the greatest distance of distribution functions, and Hoeffding's for sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

Family = Literal["uniform", "normal", "bernoulli", "categorical"]
Floats = NDArray[np.float64]
_SLACK = 1e-9
"""Functions are computed to 1e-15, and may differ in the last bit from one library to the next."""


@dataclass(frozen=True)
class Distributed:
    """The elements are independent draws; a right answer is refused in one of 1 / `false_alarm` runs at most.

    `uniform` has its low and high end, `normal` its mean and standard deviation; of `categorical` element k
    stands with the k-th probability. Of `bernoulli` an element is not zero with the one probability, or with
    that of its place in row-major order.
    """

    output: str
    family: Family
    parameters: tuple[float, ...]
    false_alarm: float

    def violation(self, got: Tensor) -> str | None:
        values = numbers_of(got)
        if values is None or not values.size:
            what = f"{got.element_type} {list(got.shape)}"
            return f"output {self.output} is {what}, of which no distribution can be told"
        if np.isnan(values).any():
            return f"output {self.output} has NaN among draws of {self}"
        if self.family == "bernoulli":
            return self._violation_of_sums(values)
        if self.family == "categorical" and (unlikely := self._impossible(values)):
            return f"{unlikely} elements of {self.output} are what has the probability 0"
        distance, allowed = self._distance(values, got.element_type), self._allowed(values.size)
        if distance <= allowed:
            return None
        return (
            f"output {self.output} is not distributed as {self}: its {values.size} elements are "
            f"{distance:.3g} away, and {allowed:.3g} is passed once in {1 / self.false_alarm:.3g} runs"
        )

    def __str__(self) -> str:
        shown = ", ".join(f"{each:g}" for each in self.parameters[:6])
        return f"{self.family}({shown}{', ...' if len(self.parameters) > 6 else ''})"

    def _allowed(self, count: int) -> float:
        return math.sqrt(_natural_log(2 / self.false_alarm) / (2 * count)) + _SLACK

    def _distance(self, values: Floats, element_type: ElementType) -> float:
        """The greatest distance of distribution functions, an element may have been rounded by one step."""
        ordered = np.sort(values, kind="stable")
        layout = element_type.layout
        step = np.zeros_like(ordered)
        if layout is not None and self.family != "categorical":
            least = math.ldexp(1.0, layout.least_exponent - layout.precision + 1)
            step = np.abs(ordered) * math.ldexp(1.0, 1 - layout.precision) + least
        count = ordered.size
        to_here = np.searchsorted(ordered, ordered, "right") / count
        before = np.searchsorted(ordered, ordered, "left") / count
        above = to_here - self._function(ordered + step, closed=True)
        below = self._function(ordered - step, closed=False) - before
        return float(max(above.max(), below.max()))

    def _function(self, at: Floats, *, closed: bool) -> Floats:
        """The distribution function; without `closed` the probability of what is less."""
        if self.family == "uniform":
            low, high = self.parameters
            if high == low:
                return np.where(at >= low if closed else at > low, 1.0, 0.0)
            return np.clip((at - low) / (high - low), 0.0, 1.0)
        if self.family == "normal":
            mean, scale = self.parameters
            if scale == 0:
                return np.where(at >= mean if closed else at > mean, 1.0, 0.0)
            return np.array([_normal((each - mean) / scale) for each in at.tolist()])
        chances = self.parameters
        sums = np.array([math.fsum(chances[:count]) for count in range(len(chances) + 1)])
        found: Floats = sums[at.astype(np.int64) + int(closed)]
        return found

    def _impossible(self, values: Floats) -> int:
        """How many elements are no category, or one of the probability 0."""
        chances = np.array(self.parameters)
        known = (values >= 0) & (values < chances.size) & (values == np.floor(values))
        return int(np.count_nonzero(~known)) + int(
            np.count_nonzero(chances[values[known].astype(np.int64)] == 0)
        )

    def _violation_of_sums(self, values: Floats) -> str | None:
        """How often an element is not zero: over all, and more often where that is likelier."""
        chances = np.array(self.parameters)
        if chances.size not in (1, values.size):
            return f"output {self.output} has {values.size} elements instead of {chances.size}"
        off = np.where(values != 0, 1.0, 0.0) - chances
        certain = ((chances == 0) & (values != 0)) | ((chances == 1) & (values == 0))
        if certain.any():
            return f"{np.count_nonzero(certain)} elements of {self.output} are what has the probability 0"
        allowed = math.sqrt(values.size * _natural_log(4 / self.false_alarm) / 2) + _SLACK
        likely = np.where(chances >= sorted(self.parameters)[len(self.parameters) // 2], 1.0, -1.0)
        for what, apart in (("all", math.fsum(off)), ("likely against unlikely", math.fsum(off * likely))):
            if abs(apart) > allowed:
                return (
                    f"output {self.output} is not distributed as {self}: {apart:+.3g} elements "
                    f"too many are not zero ({what}), and {allowed:.3g} is passed "
                    f"once in {1 / self.false_alarm:.3g} runs"
                )
        return None


def numbers_of(got: Tensor) -> Floats | None:
    """The elements as float64 in one axis; None of texts and complex numbers."""
    flat = got.array.reshape(-1)
    if got.element_type.is_float:
        return decode_floats(got.element_type, flat)
    if got.element_type.is_integer or got.element_type.kind == "bool":
        return flat.astype(np.float64)
    return None


def _natural_log(number: float) -> float:
    return math.log(number)  # may differ: in the last bit, and _SLACK is a million times that


def _normal(deviations: float) -> float:
    """The distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-deviations / math.sqrt(2))  # may differ: as the logarithm
