"""The lengths of the parts that an axis is split into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from generator.draws import Draw
from generator.kind import InputName, Level, SingleKind
from generator.partial import Bindings, Partial
from specs.expressions import Expression
from specs.model import Constraint


@dataclass(frozen=True)
class Splits(SingleKind):
    """Lengths whose sum is the extent of one axis of an input."""

    of: InputName
    axis: Expression

    def levels(self) -> tuple[Level, ...]:
        return ("uneven", "even", "ones", "with_empty", "whole")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[list[int]]:
        extent = self._extent(scope)
        if level == "whole":
            yield [extent]
        elif level == "ones" and 1 < extent <= 8:
            yield [1] * extent
        elif level == "with_empty" and extent > 0:
            first = draw.integer(1, extent)
            yield [first, 0, extent - first] if first < extent else [0, extent]
        elif level == "even":
            parts = [each for each in (2, 3, 4) if extent and extent % each == 0]
            yield from ([extent // each] * each for each in draw.shuffled(parts))
        elif level == "uneven" and extent > 2:
            first = draw.integer(1, extent - 1)
            if 2 * first == extent:
                first -= 1
            yield [first, extent - first] if first else [1, extent - 1]

    def rules(self) -> Iterable[Constraint]:
        extent = f"shape({self.of})[{self.axis.text}]"
        yield self.rule(f"{self.name}_total", f"sum([each for each in {self.name}]) == {extent}", self.given)
        yield self.rule(f"{self.name}_not_negative", f"all(each >= 0 for each in {self.name})", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = self._extent(scope)
        yield f"{self.name}_total", {self.name: [extent + 1]}
        if extent:
            yield f"{self.name}_total", {self.name: [extent, 1]}
            yield f"{self.name}_total", {self.name: [extent - 1]}
        yield f"{self.name}_not_negative", {self.name: [extent + 1, -1]}

    def smaller(self, name: str, value: Any, scope: Partial) -> Iterator[Any]:
        extent = self._extent(scope)
        if value is not None and len(value) > 2:
            yield [int(value[0]), extent - int(value[0])]

    def _extent(self, scope: Partial) -> int:
        shape = scope.shape(self.of)
        return shape[int(scope.value(self.axis))]
