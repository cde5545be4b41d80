"""Locations in the last axes of an image, from -1 to 1 between its borders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.finite_numbers import Change, FiniteNumbers
from generator.calls.variables.kind import InputName, Level
from specs.language.expressions import Expression

_MISREAD: tuple[tuple[str, str, Change], ...] = (
    ("exchanged", "the axes of locations in the other order", lambda grid: grid[..., ::-1]),
    ("negated", "locations mirrored", lambda grid: -grid),
    ("clipped", "locations brought between -1 and 1", lambda grid: np.clip(grid, -1, 1)),
)


@dataclass(frozen=True)
class GridLocations(FiniteNumbers):
    """Locations along the last axis, the innermost axis of `of` first.

    Where `aligned` holds, -1 and 1 are the middles of the elements at the corners, else their outer ends.
    """

    of: InputName
    aligned: Expression

    misread = _MISREAD

    def levels(self) -> tuple[Level, ...]:
        return ("quarters", "halves", "borders", "outside", "decimals", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[NDArray[np.float64]]:
        shape, extents = scope.shape(self.name), scope.shape(self.of)[:1:-1]
        aligned = bool(scope.value(self.aligned))
        grid = np.zeros(shape)
        for index in np.ndindex(shape):
            # Of an axis that the image does not have, or that is empty, any number is a location.
            extent = max((1, *extents[index[-1] : index[-1] + 1])) if index else 1
            grid[index] = _location(str(level), extent, aligned, draw)
        yield grid


def _location(level: str, extent: int, aligned: bool, draw: Draw) -> float:
    """One number of a location: as the level says where in elements, or which number itself."""
    if level == "decimals":
        return draw.integer(-10, 10) / 10
    if level == "far":
        return draw.choice((-1.0, 1.0)) * draw.choice((16.0, 1000.0, 8589934592.0))
    if level == "borders":
        ends = (-1.0, -0.75, -0.5, -0.25, extent - 0.75, extent - 0.5, extent - 0.25, extent + 0.0)
        place = draw.choice(ends)
        return draw.choice((-1.0, 1.0, _normalized(place, extent, aligned)))
    span = extent - 1 if aligned else extent
    if level == "halves":
        # Halves that a float holds, so that which index is the nearest one hangs on no rounding.
        exact = span & (span - 1) == 0
        place = draw.integer(-1, 2 * extent - 1) / 2
        return _normalized(place, extent, aligned) if exact else draw.choice((-1.0, 1.0, 0.0, -0.5, 0.5))
    beyond = 1 + draw.integer(0, 12 * extent) / 4 + 0.125
    inside = draw.integer(0, extent - 1) + draw.choice((0.0, 0.25, -0.25))
    place = (
        draw.choice((-beyond, extent - 1 + beyond))
        if level == "outside"
        else min(max(inside, 0.0), extent - 1.0)
    )
    return _normalized(place, extent, aligned)


def _normalized(place: float, extent: int, aligned: bool) -> float:
    """A place in elements as a number that is between -1 and 1 inside."""
    if not aligned:
        return (2 * place + 1) / extent - 1
    return 2 * place / (extent - 1) - 1 if extent > 1 else place / 2
