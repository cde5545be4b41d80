"""A diagonal of a matrix, counted from the main one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, ValueChange
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression


@dataclass(frozen=True)
class Diagonal(SingleKind):
    """Any whole number: 0 is the main diagonal, those above are positive; beyond the matrix it is empty."""

    rows: Expression
    columns: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("above", "main", "below", "beyond_above", "beyond_below", "corner_above", "corner_below")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[int]:
        rows, columns = int(scope.value(self.rows)), int(scope.value(self.columns))
        if level == "above":
            yield from draw.shuffled(range(1, columns - 1))
        elif level == "below":
            yield from draw.shuffled(range(-rows + 2, 0))
        elif level == "corner_above" and columns > 1:
            yield columns - 1
        elif level == "corner_below" and rows > 1:
            yield -rows + 1
        elif level in ("main", "beyond_above", "beyond_below"):
            yield {"main": 0, "beyond_above": columns + 1, "beyond_below": -rows - 1}[str(level)]

    def changes(self) -> Iterable[KindChange]:
        def opposite(given: CallValues) -> Bindings:
            return {self.name: -given.numbers(self.name)}

        yield ValueChange(f"{self.name} opposite", f"{self.name} with the other sign", opposite)
