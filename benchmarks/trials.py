"""A call whose bound is measured: what honest programs make of it, and what faulty ones do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import ExpectedOutput
from tests.reference.honest_programs import Asked

Array = NDArray[Any]
Outputs = tuple[Array, ...]


@dataclass(frozen=True)
class Trial:
    """One call: its operator, how far outputs lie from it, and the outputs of programs.

    `faulty` are those that are wrong on purpose, by what is wrong; where one changes nothing it is the same
    as the first honest one.
    """

    operator: str
    share: Callable[[Outputs], Array]
    honest: Sequence[Outputs]
    faulty: Mapping[str, Outputs]


def share_of(asked: Asked, places: Sequence[int]) -> Callable[[Outputs], Array]:
    """The error of every element over what is allowed, under the expectation in which the greatest is least.

    0 where an element is open or the value is another that is as good.
    """

    def found(got: Outputs) -> Array:
        every = [
            np.concatenate([_shares(outputs[at], each) for at, each in zip(places, got, strict=True)])
            for outputs in asked.accepted
        ]
        return min(every, key=lambda each: float(each.max(initial=0.0)))

    return found


def _shares(output: ExpectedOutput, got: Array) -> Array:
    expected = output.expected.array.astype(np.float64)
    allowed = np.zeros(expected.shape) if output.allowed is None else output.allowed
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(got.astype(np.float64) - expected)
        found = np.where((apart == 0) | np.isinf(allowed), 0.0, apart / allowed)
    for each in output.alternatives:
        if got.reshape(-1)[each.index] in np.array(each.values, output.expected.array.dtype):
            found.reshape(-1)[each.index] = 0.0
    return np.asarray(found.reshape(-1))
