"""Interpolation kernels over Estimates: the weight of a tap by its distance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from reference.numbers.estimates import Estimate, hull
from reference.numbers.rationals import Rationals
from reference.numbers.working import Mask


def linear(distance: Estimate) -> Estimate:
    """1 - |d| up to distance 1, 0 beyond."""
    size = abs(distance)
    inside, reached = _below(size, 1)
    return hull([(inside, reached, 1 - size), (~inside, _beyond(size, 1, inside), _zero(size))])


def cubic(distance: Estimate, a: Fraction) -> Estimate:
    """Keys' convolution kernel with parameter a: one cubic up to distance 1, another up to 2, 0 beyond.

    Evaluated as nested polynomials in the distance. Source: the paper that the ONNX document refers to,
    R. Keys, Cubic convolution interpolation for digital image processing, equation (4).
    """
    size = abs(distance)
    first, first_reached = _below(size, 1)
    second, second_reached = _below(size, 2)
    slope = Estimate.exact(a)
    inner = ((slope + 2) * size - (slope + 3)) * size * size + 1
    outer = ((slope * size - 5 * slope) * size + 8 * slope) * size - 4 * slope
    return hull(
        [
            (first, first_reached, inner),
            (second & ~first, second_reached & _beyond(size, 1, first), outer),
            (~second, _beyond(size, 2, second), _zero(size)),
        ]
    )


SUPPORT = {"linear": 1, "cubic": 2}
"""Beyond this distance a kernel is 0."""


def _near(size: Estimate, knot: int) -> Mask:
    """Where a computed distance may lie on the other side of a knot than the exact one."""
    apart = np.abs((size.value - Rationals.of(knot)).floats())
    return np.asarray((size.error > 0) & (apart <= size.error))


def _below(size: Estimate, knot: int) -> tuple[Mask, Mask]:
    inside = size.value.at_most(Rationals.of(knot))
    return inside, inside | _near(size, knot)


def _beyond(size: Estimate, knot: int, inside: Mask) -> Mask:
    return ~inside | _near(size, knot)


def _zero(like: Estimate) -> Estimate:
    return Estimate.exact(np.zeros(like.value.shape, dtype=object).astype(object), like.layout)
