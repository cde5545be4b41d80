"""A list of whole numbers from 1, as many as there are axes of something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, KindChange, Level, ValueChange
from generator.calls.variables.single_kind import SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Counts(SingleKind):
    """`length` numbers of at least 1."""

    length: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("different", "equal", "ones")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        length = int(scope.value(self.length))
        if level == "different" and length > 1:
            yield draw.shuffled(range(1, length + 3))[:length]
        elif level == "equal":
            yield [draw.integer(2, 3)] * length
        elif level == "ones":
            yield [1] * length

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_length", f"len({self.name}) == ({self.length.text})", self.given)
        yield self.rule(f"{self.name}_positive", f"all(each > 0 for each in {self.name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        length = int(scope.value(self.length))
        for wrong in ([2] * (length + 1), [2] * (length - 1)):
            yield f"{self.name}_length", {self.name: wrong}
        for value in (0, -1):
            yield f"{self.name}_positive", {self.name: [2] * (length - 1) + [value]}

    def changes(self) -> Iterable[KindChange]:
        def first(given: CallValues) -> Bindings:
            counts = given.numbers(self.name)
            return {self.name: np.full_like(counts, counts[0])}

        yield ValueChange(f"{self.name} first", f"the first number of {self.name} for all", first)
