"""An attribute that switches something on (1) or off (0)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Flag(SingleKind):
    """0 or 1; other numbers are left undefined unless the document says otherwise."""

    def levels(self) -> tuple[Level, ...]:
        attribute = self.subject.attribute(self.name)
        plain = 1 if attribute is not None and attribute.default == 1 else 0
        return (plain, 1 - plain)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        yield int(level)

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_value", f"{self.name} in [0, 1]", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (2, -1):
            yield f"{self.name}_value", {self.name: value}
