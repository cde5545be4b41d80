"""A place between the axes of a tensor, clamped to those that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import InputName, Level
from generator.calls.variables.single_kind import SingleKind

_FAR = 2**31 - 1


@dataclass(frozen=True)
class Clamped(SingleKind):
    """Any whole number: from 0 to the rank, counted from the end where negative, clamped beyond."""

    of: InputName

    def levels(self) -> tuple[Level, ...]:
        return ("inside", "first", "last", "negative", "beyond", "below", "far")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        rank = len(scope.shape(self.of))
        if level == "inside":
            yield from draw.shuffled(range(1, rank))
        elif level == "negative":
            yield from draw.shuffled(range(-rank, 0))
        else:
            yield {"first": 0, "last": rank, "beyond": rank + 2, "below": -rank - 2}.get(str(level), _FAR)
