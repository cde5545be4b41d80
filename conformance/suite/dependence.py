"""Whether elements beside or below each other hang together, with a stated rate of false alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        each[:whole].reshape(-1, 2, lag) for each in (draws.values, draws.bounds, draws.variances)
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
