"""An attribute that is a tensor of one element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Level, SingleKind
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class OneElement(SingleKind):
    """A tensor with one axis of one element, of one of the types of a type variable."""

    variable: Expression

    def levels(self) -> tuple[Level, ...]:
        return self._names()

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Tensor]:
        yield fill(str(level), (1,), "random", draw)

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_single", f"len({self.name}) == 1", self.given)
        allowed = list(self._names())
        yield self.rule(f"{self.name}_type", f"element_type({self.name}) in {allowed!r}", self.given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        names = self._names()
        for shape in ((2,), (0,)):
            yield f"{self.name}_single", {self.name: fill(names[0], shape, "random", draw)}
        for other in [each for each in ("string", "complex64") if each not in names]:
            yield f"{self.name}_type", {self.name: fill(other, (1,), "random", draw)}

    def _names(self) -> tuple[str, ...]:
        variable = self.subject.spec.type_constraints.get(self.variable.text)
        return tuple(each for each in (variable.types if variable else ()) if each in ELEMENT_TYPES)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()
