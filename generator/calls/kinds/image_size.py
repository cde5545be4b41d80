"""The shape of a batch of images, which has no other source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import (
    KindChange,
    Level,
    Misreading,
    SingleKind,
    misread_as,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_MISREAD: tuple[Misreading, ...] = (
    ("reversed", "height and width exchanged", lambda size: [*size[:2], *size[2:][::-1]]),
    ("one less", "each extent one less", lambda size: [*size[:2], *(each - 1 for each in size[2:])]),
)


@dataclass(frozen=True)
class ImageSize(SingleKind):
    """How many images, as many as `batch`, how many channels, and the extents of an image."""

    batch: Expression

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return ("some", "ones", "two", "one_axis_of_one", "long")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        count = scope.shape(self.name)[0] - 2
        extents = draw.shuffled(range(2, 6))[:count]
        if level in ("ones", "two"):
            extents = [1 if level == "ones" else 2] * count
        elif level != "some":
            extents = [2] * count
            extents[draw.integer(0, count - 1)] = 1 if level == "one_axis_of_one" else 17
        yield [int(scope.value(self.batch)), draw.integer(1, 3), *extents]

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_batch", f"{self.name}[0] == ({self.batch.text})", self.given)
        yield self.rule(f"{self.name}_positive", f"all(each > 0 for each in {self.name}[1:])", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = [int(each) for each in np.asarray(scope.find(self.name)).reshape(-1).tolist()]
        yield f"{self.name}_batch", {self.name: [given[0] + 1, *given[1:]]}
        for value in (0, -1):
            yield f"{self.name}_positive", {self.name: [*given[:-1], value]}

    def changes(self) -> Iterable[KindChange]:
        yield from misread_as(self.name, *_MISREAD)
