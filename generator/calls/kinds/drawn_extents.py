"""Extents of an output of random numbers: a few, or so many that their distribution shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.kinds.sizes import Sizes
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.vector_lengths import MANY

_TABLES = ([63, 65], [4, 33, 31])
"""Shapes of some four thousand elements, no extent of which is a multiple of a vector."""


@dataclass(frozen=True)
class DrawnExtents(Sizes):
    """A list of extents from 0, of any length; at the level `many` of thousands of elements."""

    def levels(self) -> tuple[Level, ...]:
        return ("many", *super().levels())

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        if level != "many":
            yield from super().values(level, scope, draw)
            return
        yield from draw.shuffled([*_TABLES, [MANY]])
