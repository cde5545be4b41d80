"""Functions of several pieces over Estimates, whose computed argument may lie in another piece."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reference.numbers.estimates import Estimate, Mask, rounded_up


def hull(pieces: Sequence[tuple[Mask, Mask, Estimate]]) -> Estimate:
    """A piecewise function. A piece: where the exact argument lies in it, where a computed one may, result.

    The value is that of the exact argument's piece; where several pieces may be reached the error spans them
    all, and counts as fresh.
    """
    layout = pieces[0][2].layout
    shape = np.broadcast_shapes(*(each[2].value.shape for each in pieces))
    result = Estimate.exact(np.zeros(shape, dtype=object), layout)
    for inside, _, piece in pieces:
        result = piece.where(np.broadcast_to(inside, shape), result)
    reached = np.count_nonzero([np.broadcast_to(touched, shape) for _, touched, _ in pieces], axis=0)
    several = np.asarray(reached > 1)
    if not several.any():
        return result
    span = np.zeros(shape)
    centre = result.value
    for _, touched, piece in pieces:
        apart = np.abs((piece.value - centre).floats()) + np.abs(piece.shared) + piece.fresh
        span = np.where(touched & several, np.maximum(span, apart), span)
    return Estimate(
        result.value,
        np.where(several, 0.0, result.shared),
        np.where(several, rounded_up(span), result.fresh),
        layout,
    )
