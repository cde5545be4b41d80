"""One of a few values that are listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Enumeration(SingleKind):
    """One of the arguments, or of the values that the document lists."""

    listed: tuple[Expression, ...] = ()

    def levels(self) -> tuple[Level, ...]:
        if self.listed:
            return tuple(each.evaluate({}) for each in self.listed)
        attribute = self.subject.attribute(self.name)
        values = attribute.values.values if attribute is not None and attribute.values is not None else ()
        plain = [each for each in values if attribute is not None and each == attribute.default]
        return (*plain, *(each for each in values if each not in plain))

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield level

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_value", f"{self.name} in {list(self.levels())!r}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        listed = self.levels()
        first = listed[0]
        if isinstance(first, str):
            other = first.upper() if first != first.upper() else first.lower()
            beyond: tuple[Level, ...] = ("", "unheard_of", other)
        else:
            numbers = [each for each in listed if not isinstance(each, str)]
            beyond = (max(numbers) + 1, min(numbers) - 1)
        for value in beyond:
            if value not in listed:
                yield f"{self.name}_value", {self.name: value}
