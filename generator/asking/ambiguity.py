"""How many elements have more than one accepted result: of a case, and of a suite's part."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case, ExpectedOutput
from reference.answers import Answer


@dataclass(frozen=True)
class Ambiguity:
    """Elements of expected outputs, each expectation's counted; `several` of them have several results.

    They are those with alternatives, other values that honest routes reach where something jumps (a nearest
    element, the edge of extrapolation, a conversion to integers, NaN and infinity at a weight of zero), and
    those of which any value is accepted. The error allowed beside one expected value does not count, nor do
    different expectations: they are readings.
    """

    elements: int = 0
    several: int = 0

    def __add__(self, other: Ambiguity) -> Ambiguity:
        return Ambiguity(self.elements + other.elements, self.several + other.several)

    @property
    def share(self) -> Fraction:
        """The part of the elements that have several accepted results; 0 where there is no element."""
        return Fraction(self.several, self.elements) if self.elements else Fraction(0)

    def __str__(self) -> str:
        return f"{float(100 * self.share):.2f} % of the elements have several accepted results"


def ambiguity(cases: Iterable[Case]) -> Ambiguity:
    """The ambiguity of all cases that demand an answer."""
    return ambiguity_of(
        output for case in cases for expectation in case.expectations for output in expectation.outputs
    )


def ambiguity_of(expected: Iterable[ExpectedOutput]) -> Ambiguity:
    """The ambiguity of some outputs."""
    outputs = list(expected)
    return Ambiguity(
        sum(output.expected.array.size for output in outputs),
        sum(
            _several([alternative.index for alternative in output.alternatives], output.allowed)
            for output in outputs
        ),
    )


def ambiguity_of_answers(answers: Iterable[Answer]) -> Ambiguity:
    """The ambiguity of what a reference answers."""
    outputs = list(answers)
    return Ambiguity(
        sum(output.expected.array.size for output in outputs),
        sum(_several(output.alternatives or (), output.allowed) for output in outputs),
    )


def _several(places: Collection[int], allowed: NDArray[np.float64] | None) -> int:
    """How many elements have alternatives, or may be anything."""
    anything = () if allowed is None else np.flatnonzero(np.isinf(allowed)).tolist()
    return len({*places, *anything}) if anything else len(set(places))
