"""An attribute that repeats an extent of the inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.draws import Draw
from generator.kind import Level, SingleKind
from generator.partial import Bindings, Partial
from specs.expressions import Expression
from specs.model import Constraint


@dataclass(frozen=True)
class Extent(SingleKind):
    """The number that the expression says."""

    of: Expression

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        yield int(scope.value(self.of))

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_agrees", f"{self.name} == {self.of.text}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        right = int(scope.value(self.of))
        for value in (right + 1, right - 1, 0):
            if value != right:
                yield f"{self.name}_agrees", {self.name: value}
