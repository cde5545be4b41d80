"""An attribute that switches something on (1) or off (0)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from generator.solved.partial import Bindings, Partial
from generator.spaces.kind import Level
from generator.spaces.single_kind import SingleKind
from generator.values.draws import Draw
from specs.model import Constraint


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

    def smaller(self, name: str, value: Any, scope: Partial) -> Iterator[Any]:
        plain = self.levels()[0]
        if value is not None and value != plain:
            yield plain
