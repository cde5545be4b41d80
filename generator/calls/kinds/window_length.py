"""How long a window is: an even or odd number of points, one, none, or more than a vector register holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from generator.calls.variables.vector_lengths import lengths_around
from specs.model.spec import Constraint


@dataclass(frozen=True)
class WindowLength(SingleKind):
    """A whole number that is not negative."""

    def levels(self) -> tuple[Level, ...]:
        return ("even", "odd", "long", "two", "one", "none")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        listed: dict[Level, tuple[int, ...]] = {
            "even": (10, 4, 6, 12, 16),
            "odd": (7, 3, 5, 11, 13),
            "long": (67, 96),
            "two": (2,),
            "one": (1,),
            "none": (0,),
        }
        yield from draw.shuffled(listed[level])

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for length in lengths_around():
            yield f"length_{length}", {self.name: length}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_not_negative", f"all(each >= 0 for each in {self.name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (-1, -10):
            yield f"{self.name}_not_negative", {self.name: value}
