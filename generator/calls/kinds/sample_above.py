"""A number above another one, for which a few stand."""

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
class SampleAbove(SingleKind):
    """Any finite number that is greater than `least`; the others stand for all, the first is the plainest."""

    least: Expression
    plain: Expression
    other: Expression
    third: Expression | None = None

    def levels(self) -> tuple[Level, ...]:
        given = (self.plain, self.other, self.third)
        return tuple(each.evaluate({}) for each in given if each is not None)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield level

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_finite", f"-{_GREATEST} <= {self.name} <= {_GREATEST}", self.given)
        # Of what is not finite the other rule speaks.
        not_above = f"-{_GREATEST} <= {self.name} <= ({self.least.text}) <= {_GREATEST}"
        yield self.rule(f"{self.name}_above", f"not ({not_above})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        least = float(scope.value(self.least))
        for value in (float("nan"), float("inf"), float("-inf")):
            yield f"{self.name}_finite", {self.name: value}
        for value in (least, least - 1.5):
            yield f"{self.name}_above", {self.name: value}
