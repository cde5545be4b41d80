"""An index that elements may have to be passed over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import InputName, Level
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression

_FAR_BELOW, _FAR_ABOVE = -100, 255
"""What programs take by default for labels that are none."""


@dataclass(frozen=True)
class Ignored(SingleKind):
    """A whole number that is an index into an axis of an input, or lies below or above all of them."""

    of: InputName
    axis: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("inside", "below", "above")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        extent = int(scope.shape(self.of)[int(scope.value(self.axis))])
        if level == "inside":
            yield from draw.shuffled(range(extent))
        elif level == "below":
            yield from draw.shuffled([-1, -extent, _FAR_BELOW])
        else:
            yield from draw.shuffled([extent, extent + 1, _FAR_ABOVE])
