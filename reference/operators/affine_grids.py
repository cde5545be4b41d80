"""AffineGrid: the places of an image's pixels, moved by affine matrices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.stacks import stacked
from reference.numbers.working import Working
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.sums.summation import sum_of_products

PlaceOfOne = Annotated[Choice[Literal["center", "start", "end"]], AsReading]


@reference_operator("ai.onnx::AffineGrid")
def affine_grid(
    theta: Numbers, size: tuple[int, ...], *, align_corners: int = 0, place_of_one: PlaceOfOne
) -> Numbers:
    """theta times (x, y, 1) or (x, y, z, 1) for each place; x is that along the last axis.

    Source: AffineGrid, Summary.
    """
    working, extents = theta.working, size[2:]
    along = [_places(extent, align_corners, working, place_of_one) for extent in extents]
    rank = len(extents)
    placed = [
        each.reshape(tuple(extent if at == axis else 1 for at, extent in enumerate(extents)))
        for axis, each in enumerate(along)
    ]
    joined = stacked([*placed[::-1], Numbers.exact(1, working)]).reshape((1, *extents, 1, rank + 1))
    rows = theta.reshape((theta.shape[0], *(1,) * rank, *theta.shape[1:]))
    sums = sum_of_products(rows, joined)
    # An infinity times what is zero, or nearly.
    nearly = (joined.error > 0) & (np.abs(joined.value.spread(joined.shape).floats()) <= joined.error)
    return opened(sums, np.asarray((np.isinf(rows.sign) & nearly).any(axis=-1)))


def _places(extent: int, align_corners: int, working: Working, of_one: Choice[str]) -> Numbers:
    """From -1 to 1 in equal steps, between the ends or the middles of the pixels at the corners.

    By the formula, from the first place on by steps, or between the middles and then drawn together.
    """
    index = Numbers.exact(np.arange(extent).astype(object), working)
    if extent == 1:
        at = {"center": 0, "start": -1, "end": 1}[of_one.ask()] if align_corners else 0
        return Numbers.exact(np.array([at], dtype=object), working)
    last = Numbers.exact(extent - 1, working)
    if align_corners:
        ways = [(index * 2) / last - 1, index * (index.lift(2) / last) - 1]
    else:
        whole = Numbers.exact(extent, working)
        step = index.lift(2) / whole
        ways = [
            (index * 2 + 1) / whole - 1,
            index * step + (step * Fraction(1, 2) - 1),
            (index * (index.lift(2) / last) - 1) * (last / whole),
        ]
    return replace(ways[0], error=np.max([each.error for each in ways], axis=0, initial=0.0))
