"""A whole number that divides others without remainder."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Divisor(SingleKind):
    """Divides every argument."""

    of: tuple[Expression, ...]

    def levels(self) -> tuple[Level, ...]:
        return ("some", "one", "all")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        numbers = self._numbers(scope)
        common = math.gcd(*numbers)
        if level == "one":
            yield 1
        elif level == "all" and numbers[0] > 1 and common == numbers[0]:
            yield numbers[0]
        elif level == "some":
            inside = [each for each in range(2, common + 1) if common % each == 0 and each < numbers[0]]
            yield from draw.shuffled(inside)

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_positive", f"{self.name} > 0", self.given)
        conditions = " and ".join(f"({each.text}) % {self.name} == 0" for each in self.of)
        yield self.rule(f"{self.name}_divides", f"{self.name} <= 0 or {conditions}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for value in (0, -1):
            yield f"{self.name}_positive", {self.name: value}
        numbers = self._numbers(scope)
        yield f"{self.name}_divides", {self.name: max(numbers) + 1}
        for value in range(2, max(numbers)):
            if any(each % value for each in numbers):
                yield f"{self.name}_divides", {self.name: value}
                return

    def _numbers(self, scope: Partial) -> list[int]:
        return [int(scope.value(each)) for each in self.of]
