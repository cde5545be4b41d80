"""An attribute that repeats what shapes say: how long one of their axes is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Extent(SingleKind):
    """The value of an extent of shapes, and no other."""

    of: Expression

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        yield int(scope.value(self.of))

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_agrees", f"{self.name} == ({self.of.text})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = int(scope.value(self.of))
        for value in (extent + 1, extent - 1, 0, -1):
            if value != extent:
                yield f"{self.name}_agrees", {self.name: value}
