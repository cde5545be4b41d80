"""Weighted sums of tensor elements along several axes: exact values, and how far honest routes may end up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from opcert.vocabulary.element_types import FloatLayout
from reference.numbers.additions import along
from reference.numbers.estimates import Floats
from reference.numbers.numbers import Decoded
from reference.numbers.rationals import Integers, Rationals
from reference.sums.bounds_of_routes import bound_of_routes
from reference.sums.weights import AxisWeights, outer


@dataclass(frozen=True, eq=False)
class Sums:
    """Exact sums, and the greatest distance of a route from them in working precision."""

    value: Rationals
    error: Floats


def weighted_sums(
    data: Decoded,
    weights: Sequence[tuple[int, AxisWeights]],
    layout: FloatLayout,
    *,
    direct: int,
    flush: bool,
    doubt: Floats | None = None,
) -> Sums:
    """Sum `data` (not finite elements count as 0) with the weights of each axis, for every output element.

    `layout` is the working precision of products and sums. The routes: one axis after another in any order,
    by weights or by steps, and all taps of up to `direct` axes in one sum of products, axes without weights
    among them; every sum in any order, fused or not. `flush` allows every product to be flushed to zero where
    it is subnormal. `doubt` is how far each element of the data may lie from what a program holds.
    """
    integers: Integers = data.integers
    denominators: list[tuple[int, Integers]] = []
    for axis, each in weights:
        integers = along(axis, np.broadcast_to(each.value.numerator, each.value.shape), integers)
        denominator = np.broadcast_to(each.value.denominator, (*each.value.shape[:1], 1)).reshape(-1)
        denominators.append((axis, denominator))
    shape = integers.shape
    denominator = outer(shape, denominators, np.multiply, np.array(1, dtype=object))
    scale = data.scale
    value = Rationals(
        np.asarray(integers * scale.numerator, dtype=object),
        np.asarray(denominator * scale.denominator, dtype=object),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        error = bound_of_routes(data, weights, layout, shape, doubt, direct=direct, flush=flush)
    return Sums(value, error)
