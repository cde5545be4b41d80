"""Several arrays of Numbers put together into one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reference.number_arrays import Numbers
from reference.rationals import Rationals


def stacked(several: Sequence[Numbers]) -> Numbers:
    """The numbers of several arrays, broadcast against each other, along a new last axis."""
    shape = np.broadcast_shapes(*(each.shape for each in several))
    spread = [each.broadcast(shape) for each in several]
    scalars = all(each.value.denominator.shape == () for each in spread)
    if scalars:
        common = math.lcm(*(int(each.value.denominator[()]) for each in spread))
        numerators = [each.value.numerator * (common // int(each.value.denominator[()])) for each in spread]
        value = Rationals(np.stack(numerators, axis=-1).astype(object), np.array(common, dtype=object))
    else:
        denominators = [np.broadcast_to(each.value.denominator, shape) for each in spread]
        value = Rationals(
            np.stack([each.value.numerator for each in spread], axis=-1), np.stack(denominators, axis=-1)
        )
    return Numbers(
        spread[0].working,
        value,
        np.stack([each.error for each in spread], axis=-1),
        np.stack([each.sign for each in spread], axis=-1),
        np.stack([each.lost for each in spread], axis=-1),
    )
