"""The share of elements that are left out at random."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.single_kind import SingleKind
from specs.model.spec import Constraint

_SHARES: dict[Level, float] = {"quarter": 0.25, "tenth": 0.1, "most": 0.75, "zero": 0.0}


@dataclass(frozen=True)
class DroppedShare(SingleKind):
    """A number from 0 and below 1."""

    def levels(self) -> tuple[Level, ...]:
        return tuple(_SHARES)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[float]:
        yield _SHARES[level]

    def rules(self) -> Iterable[Constraint]:
        if self.subject.input(self.name) is None:
            yield self.rule(f"{self.name}_range", f"0 <= {self.name} < 1", self.given)
            return
        # Elements of eight bits are bits to expressions.
        seen = f"element_type({self.name}) not in FLOAT8"
        when = seen if self.given is None else f"{self.given} and {seen}"
        yield self.rule(f"{self.name}_range", f"all(0 <= each < 1 for each in {self.name})", when)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (1.0, -0.5, 1.5, float("nan")):
            yield f"{self.name}_range", {self.name: value}
