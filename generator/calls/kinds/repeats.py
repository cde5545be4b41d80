"""How often a tensor is repeated along each axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, KindChange, Level, ResultChange
from generator.calls.variables.single_kind import SingleKind
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Repeats(SingleKind):
    """A number from 0 for each axis of an input."""

    of: InputName

    def levels(self) -> tuple[Level, ...]:
        return ("some", "ones", "one_axis", "none")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        rank = len(scope.shape(self.of))
        if level == "ones":
            yield [1] * rank
        elif rank:
            axis = draw.integer(0, rank - 1)
            if level == "some":
                yield [draw.integer(2, 3) if at == axis else draw.integer(1, 3) for at in range(rank)]
            elif level == "one_axis" and rank > 1:
                yield [3 if at == axis else 1 for at in range(rank)]
            elif level == "none":
                yield [0 if at == axis else 2 for at in range(rank)]

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_length", f"len({self.name}) == rank({self.of})", self.given)
        yield self.rule(f"{self.name}_not_negative", f"all(each >= 0 for each in {self.name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rank = len(scope.shape(self.of))
        yield f"{self.name}_length", {self.name: [1] * (rank + 1)}
        if rank:
            yield f"{self.name}_length", {self.name: [1] * (rank - 1)}
            yield f"{self.name}_not_negative", {self.name: [-1] * rank}

    def changes(self) -> Iterable[KindChange]:
        def each_element(given: CallValues) -> NDArray[Any]:
            data, times = given.numbers(self.of), given.numbers(self.name).reshape(-1)
            if len(times) != data.ndim:
                raise ValueError("not a number for each axis")
            for axis, count in enumerate(times):
                data = np.repeat(data, int(count), axis=axis)
            return data

        text = "each element repeated in its place, instead of the whole axis"
        yield ResultChange(f"{self.name} each element", text, self.of, each_element)
