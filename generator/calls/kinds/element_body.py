"""A graph that is run for each element of a sequence, beside tensors that are the same each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import STEPS, BodyMaker, can_double, shaped_type
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from generator.calls.variables.kind_checks import need_graph, need_sequence, need_variadic
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.value_types import TensorType
from specs.model.spec import Constraint


@dataclass(frozen=True)
class ElementBody(Kind):
    """It takes an element of `elements` and the tensors of the variadic input `beside`, and gives some."""

    elements: InputName
    beside: InputName

    def __post_init__(self) -> None:
        need_graph(self.subject)
        need_sequence(self.subject, self.elements)
        need_variadic(self.subject, self.beside)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.elements}", f"shapes:{self.beside}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {f"{self.name}_step": STEPS, f"{self.name}_gives": (1, 2, 3)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        step, kind = str(levels[f"{self.name}_step"]), self._element_type(scope)
        if step == "doubled" and not can_double(self.subject.spec.operator, kind):
            return
        beside = scope.find(f"shapes:{self.beside}")
        yield {self.name: self._graph(kind, beside, step, int(levels[f"{self.name}_gives"]))}

    def rules(self) -> Iterable[Constraint]:
        takes = f"len(body_inputs({self.name})) == 1 + len({self.beside})"
        yield self.rule(f"{self.name}_takes", takes)
        types = f"[element_type({self.elements})] + [element_type(each) for each in {self.beside}]"
        yield self.rule(f"{self.name}_types", f"body_inputs({self.name}) == {types}", takes)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kind, beside = self._element_type(scope), scope.find(f"shapes:{self.beside}")
        more = self._graph(kind, [*beside, ()], "kept", 1)
        yield f"{self.name}_takes", {self.name: more}
        for other in ("int64", "bool"):
            yield f"{self.name}_types", {self.name: self._graph(other, beside, "kept", 1)}

    def _element_type(self, scope: Partial) -> str:
        parameter = self.subject.input(self.elements)
        assert parameter is not None
        return scope.element_type(parameter)

    def _graph(self, kind: str, beside: Sequence[tuple[int, ...]], step: str, gives: int) -> Graph:
        body = BodyMaker(self.name)
        # Elements of a sequence may have different shapes, so that the type says none.
        types = [TensorType(ELEMENT_TYPES[kind]), *(shaped_type(kind, shape) for shape in beside)]
        taken = [body.take(each) for each in types]
        for place in range(gives):
            at = place % len(taken)
            body.give(body.step(taken[at], step if place == 0 else "kept"), types[at])
        return body.made()
