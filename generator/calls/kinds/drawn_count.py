"""How often something is drawn: so often that the distribution shows, a few times, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from generator.calls.variables.vector_lengths import MANY
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MOST = 4 * MANY


@dataclass(frozen=True)
class DrawnCount(SingleKind):
    """A whole number from 1, for each of so many `rows`."""

    rows: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("many", "some", "one")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        if level != "many" or MANY * int(scope.value(self.rows)) <= _MOST:
            yield {"many": MANY, "one": 1}.get(str(level), draw.integer(2, 9))

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_range", f"{self.name} >= 1", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (0, -1):
            yield f"{self.name}_range", {self.name: value}
