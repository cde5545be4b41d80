"""A number for which a few stand."""

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

_GREATEST = "1.7976931348623157e+308"


@dataclass(frozen=True)
class Sample(SingleKind):
    """Any finite number, of which the arguments stand for all; the first is the plainest."""

    listed: tuple[Expression, ...]

    def levels(self) -> tuple[Level, ...]:
        return tuple(each.evaluate({}) for each in self.listed)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield level

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_finite", f"-{_GREATEST} <= {self.name} <= {_GREATEST}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (float("nan"), float("inf"), float("-inf")):
            yield f"{self.name}_finite", {self.name: value}
