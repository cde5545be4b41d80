"""Several arrays of Numbers put together into one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.numbers.number_arrays import Numbers
from reference.numbers.rationals import Rationals


def stacked(several: Sequence[Numbers]) -> Numbers:
    """The numbers of several arrays, broadcast against each other, along a new last axis."""
    shape = np.broadcast_shapes(*(each.shape for each in several))
    return _together([each.broadcast(shape) for each in several], lambda arrays: np.stack(arrays, axis=-1))


def beside(*parts: Numbers) -> Numbers:
    """One behind the other along the last axis."""
    return _together(parts, lambda arrays: np.concatenate(arrays, axis=-1))


def parted(numbers: Numbers, lengths: Sequence[int]) -> tuple[Numbers, ...]:
    """Parts of these lengths, one behind the other along the last axis: what `beside` puts together."""
    ends = accumulate(lengths)
    parts = (slice(end - length, end) for end, length in zip(ends, lengths, strict=True))
    return tuple(numbers.arranged(itemgetter((..., part))) for part in parts)


def _together(parts: Sequence[Numbers], join: Callable[[list[NDArray[Any]]], NDArray[Any]]) -> Numbers:
    values = [each.value.spread(each.shape).shared() for each in parts]
    common = math.lcm(*(int(each.denominator[()]) for each in values))
    numerators = [
        np.asarray(each.numerator * (common // int(each.denominator[()])), dtype=object) for each in values
    ]
    return Numbers(
        parts[0].working,
        Rationals(join(numerators), np.array(common, dtype=object)),
        join([each.error for each in parts]),
        join([each.sign for each in parts]),
        join([each.lost for each in parts]),
    )
