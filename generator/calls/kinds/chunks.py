"""Lengths of the tensors that one is split into along an axis: one for each, or one for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Level, SingleKind
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Chunks(SingleKind):
    """A whole number without axes, the length of every part of an input along `axis` but for the last, which
    may be shorter; or a list of all lengths.

    No length is 0: a document that asks for positive ones and for none below 0 says both.
    """

    of: InputName
    axis: Expression

    needs_own_shape: ClassVar[bool] = False

    def levels(self) -> tuple[Level, ...]:
        return ("list", "chunk", "remainder", "longer", "ones", "whole", "one_of_list")

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        extent = self._extent(scope)
        if level == "list" and extent > 1:
            first = draw.integer(1, extent - 1)
            yield [first, extent - first]
        elif level == "ones":
            yield [1] * extent
        elif level == "one_of_list":
            yield [extent]
        elif level == "whole":
            yield extent
        elif level == "longer":
            yield extent + 1
        elif level in ("chunk", "remainder"):
            fits = [each for each in range(1, extent) if (extent % each == 0) == (level == "chunk")]
            yield from draw.shuffled(fits)

    def rules(self) -> Iterable[Constraint]:
        name, extent = self.name, f"shape({self.of})[{self.axis.text}]"
        given = f"present({name})"
        yield self.rule(f"{name}_rank", f"rank({name}) <= 1", given)
        yield self.rule(f"{name}_positive", f"all(each > 0 for each in {name})", given)
        yield self.rule(
            f"{name}_total", f"sum({name}) == {extent}", f"{given} and rank({name}) == 1 and min({name}) > 0"
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extent = self._extent(scope)
        yield f"{self.name}_rank", {self.name: [[extent]]}
        yield f"{self.name}_total", {self.name: [extent, 1]}
        yield f"{self.name}_positive", {self.name: [extent + 1, -1]}
        yield f"{self.name}_positive", {self.name: -1}

    def _extent(self, scope: Partial) -> int:
        return scope.shape(self.of)[int(scope.value(self.axis))]
