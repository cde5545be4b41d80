"""A list of which a document says no more than how long it is: the plainest values that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class PlainList(SingleKind):
    """As many values as `length` says, all different: 0, 1, 2, ..., or `k0`, `k1`, ...

    It is given where `when` holds, and left out where it does not.
    """

    length: Expression = field(kw_only=True)
    when: Expression | None = field(default=None, kw_only=True)

    @property
    def needs(self) -> frozenset[str]:
        found = super().needs
        return found | self.type_levels(*(name for name in found if self.subject.input(name) is not None))

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return super().factors() if self.when is None else {self.name: ("plain",)}

    def levels(self) -> tuple[Level, ...]:
        return ("plain",)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        meant = self.when is None or bool(scope.value(self.when))
        yield self._first(int(scope.value(self.length))) if meant else None

    def _first(self, count: int) -> list[Any]:
        attribute = self.subject.attribute(self.name)
        kind = attribute.kind if attribute is not None else "ints"
        if kind == "strings":
            return [f"k{number}" for number in range(count)]
        return [float(number) if kind == "floats" else number for number in range(count)]

    def rules(self) -> Iterable[Constraint]:
        if self.when is not None:
            yield self.rule(f"{self.name}_given", f"present({self.name}) == ({self.when.text})")
        yield self.rule(f"{self.name}_length", f"len({self.name}) == {self.length.text}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if scope.find(self.name) is not None:
            yield f"{self.name}_length", {self.name: self._first(int(scope.value(self.length)) + 1)}
