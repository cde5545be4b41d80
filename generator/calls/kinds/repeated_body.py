"""A graph that is run again and again: it takes a number, a condition, states, and gives the latter two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import STEPS, BodyMaker, can_double, scalar, shaped_type
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from generator.calls.variables.kind_checks import need_graph, need_variadic
from generator.calls.variables.wanted_outputs import NAMES
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_BEFORE = 2
"""What the body takes before the states: the number of the iteration, and the condition."""


@dataclass(frozen=True)
class RepeatedBody(Kind):
    """States of the shapes and types of the variadic input `carried`, and values of each run behind them.

    The body ends the repetition itself where `stops` is true: then nothing else does.
    """

    carried: InputName
    stops: Expression

    def __post_init__(self) -> None:
        need_graph(self.subject)
        need_variadic(self.subject, self.carried)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.carried}", *self.stops.names, f"level:{self._types}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            f"{self.name}_step": STEPS,
            f"{self.name}_condition": ("kept", "stops"),
            f"{self.name}_each_run": (1, 0, 2),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        stops = levels[f"{self.name}_condition"] == "stops"
        if not stops and scope.value(self.stops):
            return
        shapes, each_run = scope.find(f"shapes:{self.carried}"), int(levels[f"{self.name}_each_run"])
        doubled = levels[f"{self.name}_step"] == "doubled"
        kind = self._element_type(scope)
        if not shapes and (each_run == 0 or doubled):
            return
        if doubled and not can_double(self.subject.spec.operator, kind):
            return
        yield {self.name: self._graph(kind, shapes, STEPS[doubled], stops, each_run)}

    def rules(self) -> Iterable[Constraint]:
        body, states = self.name, self.carried
        takes = f"len(body_inputs({body})) == {_BEFORE} + len({states})"
        gives = f"len(body_outputs({body})) >= 1 + len({states})"
        yield self.rule(f"{body}_takes", takes)
        yield self.rule(f"{body}_gives", gives)
        types = f"[element_type(each) for each in {states}]"
        yield self.rule(
            f"{body}_types",
            f"body_inputs({body}) == ['int64', 'bool'] + {types} "
            f"and body_outputs({body})[:1 + len({states})] == ['bool'] + {types}",
            f"{takes} and {gives}",
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(each) for each in scope.find(f"shapes:{self.carried}")]
        kind = self._element_type(scope)
        yield f"{self.name}_takes", {self.name: self._graph(kind, shapes, "kept", True, 1, takes=1)}
        if len(shapes) > 1:
            fewer = self._graph(kind, shapes, "kept", True, 0, gives=-1)
            yield f"{self.name}_gives", {self.name: fewer, NAMES: scope.find(NAMES)[: len(shapes) - 1]}
        if shapes:
            for other in ("int64", "double", "bool"):
                yield f"{self.name}_types", {self.name: self._graph(other, shapes, "kept", True, 1)}

    @property
    def _types(self) -> str:
        parameter = self.subject.input(self.carried)
        return f"type_{parameter.type if parameter is not None else ''}"

    def _element_type(self, scope: Partial) -> str:
        parameter = self.subject.input(self.carried)
        assert parameter is not None
        return scope.element_type(parameter)

    def _graph(
        self,
        kind: str,
        shapes: Sequence[tuple[int, ...]],
        step: str,
        stops: bool,
        each_run: int,
        *,
        takes: int = 0,
        gives: int = 0,
    ) -> Graph:
        """A body; a breach takes `takes` values more, and gives `gives` states more."""
        body = BodyMaker(self.name)
        counted, ends = (shaped_type(each, ()) for each in ("int64", "bool"))
        number, condition = body.take(counted), body.take(ends)
        states = [body.take(shaped_type(kind, shape)) for shape in shapes]
        for _ in range(takes):
            body.take(shaped_type(kind, ()))
        if stops:
            condition = body.constant(scalar(False, ELEMENT_TYPES["bool"]))
        body.give(condition, ends)
        results = [body.step(each, step) for each in states]
        for result, shape in list(zip(results, shapes, strict=True))[: len(shapes) + gives]:
            body.give(result, shaped_type(kind, shape))
        of_run = [(number, counted)]
        of_run += [(result, shaped_type(kind, shape)) for result, shape in zip(results, shapes, strict=True)]
        for place in range(each_run):
            body.give(*of_run[place % len(of_run)])
        return body.made()
