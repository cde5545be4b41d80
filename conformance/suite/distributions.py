"""Draws of a distribution, told from others with a stated rate of false alarms.

The bounds hold for every number of elements: that of Dvoretzky, Kiefer and Wolfowitz (Massart's constant) for
the greatest distance of distribution functions, and Hoeffding's for sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Centred:
    """Numbers of which each lies within its bound of 0, with a mean that is at most `doubt` away from 0."""

    values: Floats
    bounds: Floats
    variances: Floats
    doubt: float


def dependence(output: str, draws: Centred, shape: Sequence[int], rate: float) -> str | None:
    """What says that elements hang together, None where nothing does; independent ones at most at the rate.

    Products of independent numbers have the mean 0. Those of disjoint pairs are independent of each other, so
    that Hoeffding's bound and Bernstein's hold for their sum, whatever their number is. Pairs are neighbours,
    and elements that stand below each other along the last axis but one.
    """
    count = draws.values.size
    lags = [1, *([shape[-1]] if len(shape) > 1 and 1 < shape[-1] < count else [])]
    for lag in lags:
        told = _hang_together(draws, lag, rate / len(lags))
        if told is not None:
            return f"elements of output {output} that are {lag} apart {told}"
    return None


def _hang_together(draws: Centred, lag: int, rate: float) -> str | None:
    pairs = draws.values.size // (2 * lag)
    whole = pairs * 2 * lag
    values, bounds, variances = (
        array[:whole].reshape(-1, 2, lag) for array in (draws.values, draws.bounds, draws.variances)
    )
    if not whole:
        return None
    total = math.fsum((values[:, 0] * values[:, 1]).reshape(-1))
    farthest = bounds[:, 0] * bounds[:, 1]
    spread = math.fsum((variances[:, 0] * variances[:, 1]).reshape(-1)) + pairs * lag * 2 * draws.doubt
    log = math.log(2 / rate)  # may differ: in the last bit, and what is added below is far more
    hoeffding = math.sqrt(2 * math.fsum((farthest * farthest).reshape(-1)) * log)
    bernstein = math.sqrt(2 * spread * log) + 2 * float(farthest.max()) * log / 3
    allowed = min(hoeffding, bernstein) + pairs * lag * draws.doubt * draws.doubt + 1e-6
    if abs(total) <= allowed:
        return None
    how = "are alike" if total > 0 else "are unlike each other"
    return (
        f"{how}: a sum of {total:.3g} instead of 0, and {allowed:.3g} is passed once in {1 / rate:.3g} runs"
    )


Family = Literal["uniform", "normal", "bernoulli", "categorical"]
_SLACK = 1e-9
"""Functions are computed to 1e-15, and may differ in the last bit from one library to the next."""

_OF_DISTANCE, _OF_SHARES, _OF_DEPENDENCE = 0.9, 0.05, 0.05
"""Parts of the rate of false alarms; the tests of the small ones hardly need more."""
_SHARES = (1 / 64, 1 / 16, 1 / 8, 1 / 4, 3 / 4, 7 / 8, 15 / 16, 63 / 64)
"""Quantiles: far out the distance of distribution functions tells little."""


@dataclass(frozen=True)
class Distributed:
    """The elements are independent draws; a right answer is refused in one of 1 / `false_alarm` runs at most.

    `uniform` has its low and high end, `normal` its mean and standard deviation; of `categorical` element k
    stands with the k-th probability. Of `bernoulli` an element is not zero with the one probability, or with
    that of its place in row-major order. An output of several `rows` is so many equal parts, of which each
    has an equal part of the parameters. `resolution` is how far the steps of honest random numbers may move a
    probability. The rate is divided among the distance of distribution functions, the shares of elements in
    the tails, and the independence of elements.
    """

    output: str
    family: Family
    parameters: tuple[float, ...]
    false_alarm: float
    rows: int = 1
    resolution: float = 0.0

    def violation(self, got: Tensor) -> str | None:
        values = numbers_of(got)
        if values is None or not values.size:
            what = f"{got.element_type} {list(got.shape)}"
            return f"output {self.output} is {what}, of which no distribution can be told"
        if np.isnan(values).any():
            return f"output {self.output} has NaN among draws of {self}"
        if values.size % self.rows:
            return f"output {self.output} has {values.size} elements, which are not {self.rows} equal rows"
        told = (
            self._violation_of_sums(values)
            if self.family == "bernoulli"
            else self._violation_of_rows(values, got.element_type)
        )
        if told is not None:
            return told
        return dependence(
            self.output, self._centred(values, got), got.shape, self.false_alarm * _OF_DEPENDENCE
        )

    def _violation_of_rows(self, values: Floats, element_type: ElementType) -> str | None:
        for place, row in enumerate(self._of_rows(values)):
            if self.family == "categorical" and (unlikely := row.impossible()):
                return f"{unlikely} elements of {self.output} are what has the probability 0"
            distance, allowed = row.distance(element_type), self._allowed(row.values.size)
            which = f"row {place} of " if self.rows > 1 else ""
            if self.family != "categorical" and (
                told := row.violation_of_shares(
                    element_type, self.false_alarm * _OF_SHARES / self.rows, self.resolution
                )
            ):
                return f"{which}output {self.output} is not distributed as {self}: {told}"
            if distance > allowed:
                return (
                    f"{which}output {self.output} is not distributed as {self}: its {row.values.size} "
                    f"elements are {distance:.3g} away, and {allowed:.3g} is passed once in "
                    f"{1 / self.false_alarm:.3g} runs"
                )
        return None

    def _of_rows(self, values: Floats) -> list[_Row]:
        each = len(self.parameters) // self.rows
        return [
            _Row(self.family, self.parameters[place * each : (place + 1) * each], row)
            for place, row in enumerate(values.reshape(self.rows, -1))
        ]

    def __str__(self) -> str:
        shown = ", ".join(f"{parameter:g}" for parameter in self.parameters[:6])
        return f"{self.family}({shown}{', ...' if len(self.parameters) > 6 else ''})"

    def _allowed(self, count: int) -> float:
        rate = self.false_alarm * _OF_DISTANCE / self.rows
        return math.sqrt(_natural_log(2 / rate) / (2 * count)) + self.resolution + _SLACK

    def _violation_of_sums(self, values: Floats) -> str | None:
        """How often an element is not zero: over all, and more often where that is likelier."""
        chances = np.array(self.parameters)
        if chances.size not in (1, values.size):
            return f"output {self.output} has {values.size} elements instead of {chances.size}"
        off = np.where(values != 0, 1.0, 0.0) - chances
        certain = ((chances == 0) & (values != 0)) | ((chances == 1) & (values == 0))
        if certain.any():
            return f"{np.count_nonzero(certain)} elements of {self.output} are what has the probability 0"
        allowed = math.sqrt(values.size * _natural_log(4 / (self.false_alarm * _OF_DISTANCE)) / 2)
        allowed += values.size * self.resolution + _SLACK
        likely = np.where(chances >= sorted(self.parameters)[len(self.parameters) // 2], 1.0, -1.0)
        for what, apart in (("all", math.fsum(off)), ("likely against unlikely", math.fsum(off * likely))):
            if abs(apart) > allowed:
                return (
                    f"output {self.output} is not distributed as {self}: {apart:+.3g} elements "
                    f"too many are not zero ({what}), and {allowed:.3g} is passed "
                    f"once in {1 / self.false_alarm:.3g} runs"
                )
        return None

    def _centred(self, values: Floats, got: Tensor) -> Centred:
        """A bounded number of each element whose mean is 0, or at most `doubt` away from it."""
        if self.family == "bernoulli":
            chances = np.broadcast_to(np.array(self.parameters), values.shape)
            off = np.where(values != 0, 1.0, 0.0) - chances
            return Centred(off, np.maximum(chances, 1 - chances), chances * (1 - chances), self.resolution)
        parts = [row.centred(got.element_type) for row in self._of_rows(values)]
        return Centred(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.bounds for part in parts]),
            np.concatenate([part.variances for part in parts]),
            max(part.doubt for part in parts) + 2 * self.resolution,
        )


@dataclass(frozen=True, eq=False)
class _Row:
    """Draws of one distribution."""

    family: Family
    parameters: tuple[float, ...]
    values: Floats

    def centred(self, element_type: ElementType) -> Centred:
        """On which side of the middle each element lies, less what that is in the mean."""
        ones = np.ones_like(self.values)
        if self.family == "categorical":
            sums = list(accumulate(self.parameters))
            place = min(range(len(sums)), key=lambda each: abs(sums[each] - 0.5))
            above = min(max(1 - sums[place], 0.0), 1.0)
            return Centred(
                np.where(self.values > place, 1.0, 0.0) - above,
                ones * max(above, 1 - above),
                ones * above * (1 - above),
                0.0,
            )
        low, high = self.parameters
        middle, width = ((low + high) / 2, high - low) if self.family == "uniform" else (low, high)
        layout = element_type.layout
        step = abs(middle) * math.ldexp(1.0, 1 - layout.precision) if layout is not None else 1.0
        doubt = step / width if width else 1.0
        return Centred(np.sign(self.values - middle), ones, ones, doubt)

    def distance(self, element_type: ElementType) -> float:
        """The greatest distance of distribution functions, an element may have been rounded by one step."""
        ordered = np.sort(self.values, kind="stable")
        step = _steps(ordered, element_type) if self.family != "categorical" else np.zeros_like(ordered)
        count = ordered.size
        to_here = np.searchsorted(ordered, ordered, "right") / count
        before = np.searchsorted(ordered, ordered, "left") / count
        above = to_here - self._function(ordered + step, closed=True)
        below = self._function(ordered - step, closed=False) - before
        return float(max(above.max(), below.max()))

    def violation_of_shares(self, element_type: ElementType, rate: float, resolution: float) -> str | None:
        """Chernoff's bound for the number of elements that lie below each of some quantiles."""
        step = _steps(self.values, element_type)
        count = self.values.size
        surely = self._function(self.values + step, closed=True)
        perhaps = self._function(self.values - step, closed=False)
        for share in _SHARES:
            most, least = share + resolution, share - resolution
            fewest, greatest = (
                np.count_nonzero(surely <= share) / count,
                np.count_nonzero(perhaps <= share) / count,
            )
            for got, wanted, apart in ((fewest, most, fewest > most), (greatest, least, greatest < least)):
                if (
                    apart
                    and count * _divergence(got, wanted) > _natural_log(2 * len(_SHARES) / rate) + _SLACK
                ):
                    return (
                        f"{got:.3g} of its {count} elements lie below what {share:g} lie below, and so many "
                        f"do once in {1 / rate:.3g} runs"
                    )
        return None

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
        sums = np.array(list(accumulate(chances, initial=0.0)))
        found: Floats = sums[at.astype(np.int64) + int(closed)]
        return found

    def impossible(self) -> int:
        """How many elements are no category, or one of the probability 0."""
        chances, values = np.array(self.parameters), self.values
        known = (values >= 0) & (values < chances.size) & (values == np.floor(values))
        return int(np.count_nonzero(~known)) + int(
            np.count_nonzero(chances[values[known].astype(np.int64)] == 0)
        )


def numbers_of(got: Tensor) -> Floats | None:
    """The elements as float64 in one axis; None of texts and complex numbers."""
    flat = got.array.reshape(-1)
    if got.element_type.is_float:
        return decode_floats(got.element_type, flat)
    if got.element_type.is_integer or got.element_type.kind == "bool":
        return flat.astype(np.float64)
    return None


def _steps(values: Floats, element_type: ElementType) -> Floats:
    """How far each element may have been rounded: a step of its type, or 0 of an integer."""
    layout = element_type.layout
    if layout is None:
        return np.zeros_like(values)
    least = math.ldexp(1.0, layout.least_exponent - layout.precision + 1)
    return np.abs(values) * math.ldexp(1.0, 1 - layout.precision) + least


def _divergence(got: float, wanted: float) -> float:
    """That of Kullback and Leibler, of one probability from another; infinite from what cannot be."""
    if not 0 < wanted < 1:
        return math.inf
    parts = ((got, wanted), (1 - got, 1 - wanted))
    return math.fsum(one * _natural_log(one / other) for one, other in parts if one > 0)


def _natural_log(number: float) -> float:
    return math.log(number)  # may differ: in the last bit, and _SLACK is a million times that


def _normal(deviations: float) -> float:
    """The distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-deviations / math.sqrt(2))  # may differ: as the logarithm
